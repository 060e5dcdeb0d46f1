import { Failure } from '../domain/failure.ts';

/** A value with its origin: `--max-wait`, `GUARD_URL`, `job.yaml:3:10: maxWait`. */
export interface WithOrigin<T> {
  readonly value: T;
  readonly place: string;
}

/** Failure('usage') with a single line about a mistake in what the user configured. */
export function usageError(place: string, what: string, cause?: unknown): Failure {
  return new Failure('usage', `${place}: ${what}`, { cause });
}

const MAX_QUOTE = 60;

/** Quotes a user's value for a message: on one line, with control characters escaped, truncated if long. */
export function quoteForMessage(value: string): string {
  const shown = value.length > MAX_QUOTE ? `${value.slice(0, MAX_QUOTE)}…` : value;
  return JSON.stringify(shown).replaceAll(
    /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Returns `; did you mean x?`, or else the available choices. */
export function suggestion(word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  return near === null ? `; known: ${known.join(', ')}` : `; did you mean ${near}?`;
}

/** Parses one of a fixed set of words. Failure('usage') suggests the nearest one. */
export function oneOf<T extends string>(known: readonly T[], given: WithOrigin<string>): T {
  const found = known.find((word) => word === given.value);
  if (found === undefined) {
    throw usageError(
      given.place,
      `${quoteForMessage(given.value)} is not known${suggestion(given.value, known)}`,
    );
  }
  return found;
}

/**
 * Damerau–Levenshtein distance (optimal string alignment): the minimum number of insertions, deletions, replacements
 * and swaps of adjacent characters that turn one word into the other. Quadratic; meant for words.
 */
function distance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = last[column - 1]! + (a[row - 1] === b[column - 1] ? 0 : 1);
      let least = Math.min(last[column]! + 1, current[column - 1]! + 1, replaced);
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        least = Math.min(least, beforeLast[column - 2]! + 1);
      }
      current.push(least);
    }
    beforeLast = last;
    last = current;
  }
  return last[b.length]!;
}

const MAX_WORD = 64;

/** Ignores differences that do not change a word: case, and how words are joined. */
const plain = (word: string): string => word.toLowerCase().replaceAll(/[-_ ]/g, '');

/**
 * The known word most likely meant by a mistyped one, or null if none is near: at most one error per three letters,
 * ignoring case and word separators (`fail-if`, `failIf`).
 */
export function nearest(word: string, known: Iterable<string>): string | null {
  if (word.length > MAX_WORD) return null;
  let best: string | null = null;
  let fewest = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of known) {
    const errors = distance(plain(word), plain(candidate));
    if (errors < fewest) {
      best = candidate;
      fewest = errors;
    }
  }
  return best;
}
