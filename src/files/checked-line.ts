import { hash } from 'node:crypto';
import type { z } from 'zod';

/** Hex digits of the check. It only detects accidental damage, for which 64 bits are enough. */
const CHECK_LENGTH = 16;
const SUFFIX = /^,"check":"[0-9a-f]{16}"\}$/;
const SUFFIX_LENGTH = ',"check":""}'.length + CHECK_LENGTH;

/**
 * Encodes a line of a file to which a run or its dashboard appends: the JSON of an object whose last key is its
 * `check`. Without a newline.
 */
export function encodeLine(value: object): string {
  return withCheck(JSON.stringify(value));
}

/**
 * Decodes a line from `encodeLine`. Returns `torn` if it is not JSON, like the last line after a crash, and `damaged`
 * if it does not match its check or the schema.
 */
export function decodeLine<T>(schema: z.ZodType<T>, bytes: Buffer): T | 'torn' | 'damaged' {
  const line = bytes.toString();
  const json = withoutCheck(line);
  let value: unknown;
  try {
    value = JSON.parse(json ?? line);
  } catch {
    return 'torn';
  }
  if (json === null) return 'damaged';
  const parsed = schema.safeParse(value);
  return parsed.success ? parsed.data : 'damaged';
}

/** Appends the key `check` to the JSON of an object: a prefix of the SHA-256 of the JSON without it. */
export function withCheck(json: string): string {
  return `${json.slice(0, -1)},"check":"${hash('sha256', json).slice(0, CHECK_LENGTH)}"}`;
}

/** Verifies and removes the check of a line from `withCheck`; null if the line has none or was changed. */
export function withoutCheck(line: string): string | null {
  if (!SUFFIX.test(line.slice(-SUFFIX_LENGTH))) return null;
  const json = `${line.slice(0, -SUFFIX_LENGTH)}}`;
  return withCheck(json) === line ? json : null;
}
