import type { z } from 'zod';
import type { RedisLink } from './link.ts';
import { isWrongType, retryWhileTransient } from './retry-while-transient.ts';

/** Values about processes and runs have a few hundred bytes. */
const MAX_BYTES = 64 * 1024;
/** Max names that are read of a set; a fleet has a few hundred processes and runs. */
const MAX_NAMES = 1024;
const SCAN_COUNT = 512;

/** A key that does not exist, or whose value is unusable: malformed, too long, or of another type or version. */
export type Unread = 'absent' | 'unreadable';

/**
 * Reads a short text from Redis: at most 64 KiB are fetched, whatever the key holds. An unreadable value is reported once
 * and not removed: its owner overwrites it, or it expires.
 */
export async function readText(
  link: RedisLink,
  key: string,
  signal: AbortSignal,
): Promise<{ readonly text: string } | Unread> {
  let bytes: Buffer;
  try {
    bytes = await retryWhileTransient(() => link.redis.getrangeBuffer(key, 0, MAX_BYTES), signal);
  } catch (error) {
    if (!isWrongType(error)) throw error;
    link.skipped.skip(key, 'is of the wrong type; skipped');
    return 'unreadable';
  }
  if (bytes.length === 0) return 'absent';
  if (bytes.length <= MAX_BYTES) return { text: bytes.toString() };
  link.skipped.skip(key, 'is too long; skipped');
  return 'unreadable';
}

/** Reads a JSON value that matches a schema, in the same way as `readText`. */
export async function readValue<T>(
  link: RedisLink,
  key: string,
  form: z.ZodType<T>,
  signal: AbortSignal,
): Promise<{ readonly value: T } | Unread> {
  const read = await readText(link, key, signal);
  if (typeof read === 'string') return read;
  const value = parseValue(read.text, form);
  if (value !== null) return { value };
  link.skipped.skip(key, 'is malformed, or of another version; skipped');
  return 'unreadable';
}

/** The value of a JSON text; null if it does not match the schema. */
export function parseValue<T>(text: string, form: z.ZodType<T>): T | null {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  return form.safeParse(json).data ?? null;
}

/** The names in one of our sets, sorted; others are skipped. Of a set with more than MAX_NAMES only some are returned. */
export async function readNames(
  link: RedisLink,
  key: string,
  isName: (member: string) => boolean,
  signal: AbortSignal,
): Promise<string[]> {
  const names = new Set<string>();
  let cursor = '0';
  do {
    const at = cursor;
    const scan = (): Promise<[string, string[]]> => link.redis.sscan(key, at, 'COUNT', SCAN_COUNT);
    const [next, members] = await retryWhileTransient(scan, signal);
    if (!members.every(isName)) link.skipped.skip(key, 'has malformed names; they are skipped');
    for (const member of members) if (names.size < MAX_NAMES && isName(member)) names.add(member);
    cursor = next;
  } while (cursor !== '0' && names.size < MAX_NAMES);
  return [...names].sort();
}
