import type { Fields } from '../record.ts';
import { members, skipSpace } from './scan.ts';

/**
 * The values of a JSON object by name. Names are only ever looked up as own ones, so none of them is special. A number
 * that is not a safe integer is given as the text it is written as: what is parsed may be another one.
 */
export class JsonFields implements Fields {
  readonly #object: object;
  readonly #bytes: Buffer | null;
  readonly #nested: readonly string[];
  /** Names that are not in lower case, by their lower case; null when there is none. */
  readonly #folded: Map<string, string> | null;

  /** `bytes` are the JSON the object was parsed from; null for a part of a record, whose numbers are as parsed. */
  constructor(object: object, bytes: Buffer | null) {
    this.#object = object;
    this.#bytes = bytes;
    let folded: Map<string, string> | null = null;
    let nested: string[] | null = null;
    for (const name of Object.keys(object)) {
      const value = (object as Record<string, unknown>)[name];
      if (typeof value === 'object' && value !== null) (nested ??= []).push(name);
      const lower = name.toLowerCase();
      if (lower === name) continue;
      folded ??= new Map();
      if (!folded.has(lower)) folded.set(lower, name);
    }
    this.#folded = folded;
    this.#nested = nested ?? NONE;
  }

  get(name: string): unknown {
    const spelt = this.#spelt(name);
    if (spelt === undefined) return undefined;
    const value = (this.#object as Record<string, unknown>)[spelt];
    const isInexact = typeof value === 'number' && !Number.isSafeInteger(value);
    return isInexact && this.#bytes !== null ? written(this.#bytes, spelt) : value;
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
    if (Object.hasOwn(this.#object, name)) return name;
    const lower = name.toLowerCase();
    if (lower !== name && Object.hasOwn(this.#object, lower)) return lower;
    return this.#folded?.get(lower);
  }

  names(): readonly string[] {
    return Object.keys(this.#object);
  }

  nestedNames(): readonly string[] {
    return this.#nested;
  }
}

const NONE: readonly string[] = [];

/** The JSON of a top-level value; of equal names the last counts, as it does for the parser. */
function written(bytes: Buffer, name: string): string | undefined {
  let found: string | undefined;
  for (const member of members(bytes, skipSpace(bytes, 0))) {
    if (member.name === name) found = bytes.toString('latin1', member.valueStart, member.valueEnd);
  }
  return found;
}
