import type { Fields } from '../record.ts';
import { listMembers, skipSpace } from './scan.ts';

/**
 * The values of a JSON object by name. Only own properties are looked up, so names like `__proto__` are not special. A
 * number that is not a safe integer is returned as its source text, because parsing may change it.
 */
export class JsonFields implements Fields {
  readonly #object: Readonly<Record<string, unknown>>;
  readonly #bytes: Buffer | null;
  readonly #names: readonly string[];
  readonly #nested: readonly string[];
  /** Names that are not in lower case, by their lower case; null if there are none. */
  readonly #folded: Map<string, string> | null;
  /** Positions of names and source texts of numbers, both computed on first use. */
  #positions: ReadonlyMap<string, number> | null = null;
  #written: ReadonlyMap<string, string> | null = null;

  /** `bytes` is the JSON source of the object; null for a part of a record, whose numbers are returned as parsed. */
  constructor(object: object, bytes: Buffer | null) {
    this.#object = object as Readonly<Record<string, unknown>>;
    this.#bytes = bytes;
    this.#names = Object.keys(object);
    let folded: Map<string, string> | null = null;
    let nested: string[] | null = null;
    for (const name of this.#names) {
      const value = this.#object[name];
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
    const spelled = this.#spelled(name);
    return spelled === undefined ? undefined : this.#value(spelled);
  }

  names(): readonly string[] {
    return this.#names;
  }

  nestedNames(): readonly string[] {
    return this.#nested;
  }

  at(position: number): unknown {
    const name = this.#names[position];
    return name === undefined ? undefined : this.#value(name);
  }

  positionOf(name: string): number | undefined {
    const spelled = this.#spelled(name);
    if (spelled === undefined) return undefined;
    this.#positions ??= new Map(this.#names.map((each, position) => [each, position]));
    return this.#positions.get(spelled);
  }

  #value(name: string): unknown {
    const value = this.#object[name];
    if (typeof value !== 'number' || Number.isSafeInteger(value) || this.#bytes === null) return value;
    this.#written ??= this.#numbers(this.#bytes);
    return this.#written.get(name);
  }

  #spelled(name: string): string | undefined {
    if (Object.hasOwn(this.#object, name)) return name;
    const lower = name.toLowerCase();
    if (lower !== name && Object.hasOwn(this.#object, lower)) return lower;
    return this.#folded?.get(lower);
  }

  /** Source texts of the numbers, by name. Names are unique: a record that repeats one was rejected before. */
  #numbers(bytes: Buffer): Map<string, string> {
    const written = new Map<string, string>();
    for (const { name, valueStart, findValueEnd: valueEnd } of listMembers(bytes, skipSpace(bytes, 0))) {
      if (typeof this.#object[name] !== 'number') continue;
      written.set(name, bytes.toString('latin1', valueStart, valueEnd));
    }
    return written;
  }
}

const NONE: readonly string[] = [];
