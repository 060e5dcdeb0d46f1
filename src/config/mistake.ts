import { Failure } from '../domain/failure.ts';
import { nearest } from './nearest.ts';

/** A value with the place that gives it: `--max-wait`, `GUARD_URL`, `job.yaml:3:10: maxWait`. */
export interface Located<T> {
  readonly value: T;
  readonly place: string;
}

/** The one line a user gets for a mistake in what they configured. */
export function mistake(place: string, what: string, cause?: unknown): Failure {
  return new Failure('usage', `${place}: ${what}`, { cause });
}

const MAX_QUOTE = 60;

/** A user's value inside a message: on one line, control characters escaped, cut when long. */
export function quoted(value: string): string {
  const shown = value.length > MAX_QUOTE ? `${value.slice(0, MAX_QUOTE)}…` : value;
  return JSON.stringify(shown).replaceAll(
    /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** `; did you mean x?`, or what there is to choose from. */
export function suggestion(word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  return near === null ? `; known: ${known.join(', ')}` : `; did you mean ${near}?`;
}

/** One of a fixed set of words. Failure('usage') names the nearest. */
export function oneOf<T extends string>(known: readonly T[], given: Located<string>): T {
  const found = known.find((word) => word === given.value);
  if (found === undefined) {
    throw mistake(given.place, `${quoted(given.value)} is not known${suggestion(given.value, known)}`);
  }
  return found;
}
