import type { z } from 'zod';
import type { RedisLink } from './link.ts';
import { retryWhileTransient } from './retry-while-transient.ts';

/** The key does not exist, or its value does not match the schema: it is malformed, or of another version. */
export type Unread = 'absent' | 'unreadable';

/** Reads a JSON value. An unreadable value is not removed: its owner overwrites it, or it expires. */
export async function readValue<T>(
  link: RedisLink,
  key: string,
  form: z.ZodType<T>,
  signal: AbortSignal,
): Promise<{ readonly value: T } | Unread> {
  const text = await retryWhileTransient(() => link.redis.get(key), signal);
  if (text === null) return 'absent';
  const value = parseValue(text, form);
  if (value !== null) return { value };
  link.reportSkipped(key, 'is malformed, or of another version');
  return 'unreadable';
}

/** Parses a JSON value; null if it does not match the schema. */
export function parseValue<T>(text: string, form: z.ZodType<T>): T | null {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  return form.safeParse(json).data ?? null;
}

/** Reads the names in one of our sets, sorted; others are skipped. */
export async function readNames(
  link: RedisLink,
  key: string,
  isName: (member: string) => boolean,
  signal: AbortSignal,
): Promise<string[]> {
  const members = await retryWhileTransient(() => link.redis.smembers(key), signal);
  const names = members.filter(isName);
  if (names.length < members.length) link.reportSkipped(key, 'has malformed names');
  return names.sort();
}
