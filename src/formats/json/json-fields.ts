import type { Fields } from '../record.ts';
import { members, skipSpace } from './scan.ts';

/**
 * The values of a JSON object by name. Names are only ever looked up as own ones, so none of them is special. A number
 * that is not a safe integer is given as the text it is written as: what is parsed may be another one.
 */
export class JsonFields implements Fields {
  readonly #object: object;
  readonly #bytes: Buffer;
  /** Names that are not in lower case, by their lower case; null when there is none. */
  readonly #folded: Map<string, string> | null;

  /** `bytes` are the JSON the object was parsed from. */
  constructor(object: object, bytes: Buffer) {
    this.#object = object;
    this.#bytes = bytes;
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
    const spelt = this.#spelt(name);
    if (spelt === undefined) return undefined;
    const value = (this.#object as Record<string, unknown>)[spelt];
    const isInexact = typeof value === 'number' && !Number.isSafeInteger(value);
    return isInexact ? this.#written(spelt) : value;
  }

  at(position: number): unknown {
    const name = this.names()[position];
    return name === undefined ? undefined : this.get(name);
  }

  positionOf(name: string): number | undefined {
    const spelt = this.#spelt(name);
    return spelt === undefined ? undefined : this.names().indexOf(spelt);
  }

  #spelt(name: string): string | undefined {
    return Object.hasOwn(this.#object, name) ? name : this.#folded?.get(name.toLowerCase());
  }

  /** The JSON of a top-level value; of equal names the last counts, as it does for the parser. */
  #written(name: string): string | undefined {
    let written: string | undefined;
    for (const member of members(this.#bytes, skipSpace(this.#bytes, 0))) {
      if (member.name !== name) continue;
      written = this.#bytes.toString('latin1', member.valueStart, member.valueEnd);
    }
    return written;
  }

  names(): readonly string[] {
    return Object.keys(this.#object);
  }
}
