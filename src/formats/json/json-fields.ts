import { type Fields } from '../record.ts';

/** The values of a JSON object by name. Names are only ever looked up as own ones, so none of them is special. */
export class JsonFields implements Fields {
  readonly #object: object;
  /** Names that are not in lower case, by their lower case; null when there is none. */
  readonly #folded: Map<string, string> | null;

  constructor(object: object) {
    this.#object = object;
    let folded: Map<string, string> | null = null;
    for (const name of Object.keys(object)) {
      const lower = name.toLowerCase();
      if (lower === name) continue;
      folded ??= new Map();
      if (!folded.has(lower)) folded.set(lower, name);
    }
    this.#folded = folded;
  }

  get(name: string): unknown {
    const spelt = Object.hasOwn(this.#object, name) ? name : this.#folded?.get(name.toLowerCase());
    return spelt === undefined ? undefined : (this.#object as Record<string, unknown>)[spelt];
  }

  names(): readonly string[] {
    return Object.keys(this.#object);
  }
}
