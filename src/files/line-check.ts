import { hash } from 'node:crypto';

/** Hex digits of the check. It detects accidental damage only, for which 64 bits are enough. */
const CHECK_LENGTH = 16;
const SUFFIX = /^,"check":"[0-9a-f]{16}"\}$/;
const SUFFIX_LENGTH = ',"check":""}'.length + CHECK_LENGTH;

/** Appends the key `check` to the JSON of an object: a prefix of the SHA-256 of the JSON without it. */
export function withCheck(json: string): string {
  return `${json.slice(0, -1)},"check":"${hash('sha256', json).slice(0, CHECK_LENGTH)}"}`;
}

/**
 * Verifies and removes the check of a line that `withCheck` made; returns null when the line was changed. A line
 * without a check is returned as it is: lines of early records have none, and a damaged `check` key is an unknown key,
 * which the parser of the line refuses.
 */
export function withoutCheck(line: string): string | null {
  if (!SUFFIX.test(line.slice(-SUFFIX_LENGTH))) return line;
  const json = `${line.slice(0, -SUFFIX_LENGTH)}}`;
  return withCheck(json) === line ? json : null;
}
