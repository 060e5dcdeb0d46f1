/** Whether a value is valid in a column of a row. */
export type Check<T> = (value: unknown) => value is T;

/** The type that a check narrows to. */
export type Checked<C> = C extends Check<infer T> ? T : never;

/**
 * Checks an array with one value per column, each with its own check. These are plain functions, because a job has
 * hundreds of rows of dozens of values: a zod schema per value takes as long as all other work on a job.
 */
export function row<T extends readonly unknown[]>(
  ...checks: { readonly [Place in keyof T]: Check<T[Place]> }
): Check<T> {
  return (value): value is T =>
    Array.isArray(value) &&
    value.length === checks.length &&
    checks.every((check, place) => check(value[place]));
}

export const text: Check<string> = (value) => typeof value === 'string';

/** Exactly this value: the kind of a row, in its first column. */
export function only<T extends number>(kind: T): Check<T> {
  return (value): value is T => value === kind;
}

export const flag: Check<boolean> = (value) => typeof value === 'boolean';

export const number: Check<number> = (value) => typeof value === 'number';

/** A probability. */
export const share: Check<number> = (value): value is number => number(value) && value >= 0 && value <= 1;

export const notNegative: Check<number> = (value): value is number => number(value) && value >= 0;

/** `maxLength` is in UTF-16 code units. */
export function textUpTo(maxLength: number): Check<string> {
  return (value): value is string => text(value) && value.length <= maxLength;
}

export const integer: Check<number> = (value): value is number => Number.isSafeInteger(value);

export const count: Check<number> = (value): value is number => integer(value) && value >= 0;

export function oneOf<T extends string>(values: readonly T[]): Check<T> {
  return (value): value is T => values.includes(value as T);
}

export function nullOr<T>(check: Check<T>): Check<T | null> {
  return (value): value is T | null => value === null || check(value);
}

export function list<T>(check: Check<T>): Check<readonly T[]> {
  return (value): value is readonly T[] => Array.isArray(value) && value.every(check);
}

/** A list of this length. */
export function listOf<T>(length: number, check: Check<T>): Check<readonly T[]> {
  const any = list(check);
  return (value): value is readonly T[] => any(value) && value.length === length;
}

/** An object with counts by name: at least one name, each count at least 1. */
export function countsOf<T extends string>(names: readonly T[]): Check<Readonly<Partial<Record<T, number>>>> {
  const isName = oneOf(names);
  return (value): value is Readonly<Partial<Record<T, number>>> => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    const entries = Object.entries(value);
    return entries.length > 0 && entries.every(([name, times]) => isName(name) && count(times) && times > 0);
  };
}

/** Texts that items of a job share: each is encoded once, and rows refer to it by its index. */
export class StringTable {
  readonly list: string[] = [];
  readonly #indexes = new Map<string, number>();

  /** The index of a text, which is added if it is new. */
  index(text: string): number {
    let index = this.#indexes.get(text);
    if (index === undefined) {
      index = this.list.push(text) - 1;
      this.#indexes.set(text, index);
    }
    return index;
  }

  indexOrNull(text: string | null): number | null {
    return text === null ? null : this.index(text);
  }
}

/** The text at an index. Throws when there is none: the job is then unreadable. */
export function textAt(list: readonly string[], index: number): string {
  const text = list[index];
  if (text === undefined) throw new Error('a job refers to a text that is not in its string table');
  return text;
}

export function textAtOrNull(list: readonly string[], index: number | null): string | null {
  return index === null ? null : textAt(list, index);
}
