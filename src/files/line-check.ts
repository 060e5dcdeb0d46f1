import { hash } from 'node:crypto';

/** Digits of the check: enough for accidents, which is all that it is against. */
const CHECK_LENGTH = 16;
const SUFFIX = /^,"check":"[0-9a-f]{16}"\}$/;
const SUFFIX_LENGTH = ',"check":""}'.length + CHECK_LENGTH;

/** The JSON of an object with one more key, `check`: the beginning of the SHA-256 of the JSON without it. */
export function withCheck(json: string): string {
  return `${json.slice(0, -1)},"check":"${hash('sha256', json).slice(0, CHECK_LENGTH)}"}`;
}

/**
 * Takes the check off a line that `withCheck` made; null when the line is not as it was written. A line that does not
 * end in a check is given as it is: lines of early records have none, and what damage makes of the key is one that no
 * line may have.
 */
export function withoutCheck(line: string): string | null {
  if (!SUFFIX.test(line.slice(-SUFFIX_LENGTH))) return line;
  const json = `${line.slice(0, -SUFFIX_LENGTH)}}`;
  return withCheck(json) === line ? json : null;
}
