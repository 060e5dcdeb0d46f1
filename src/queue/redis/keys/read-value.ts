import type { z } from 'zod';
import type { RedisLink } from '../link.ts';
import { retryWhileTransient } from '../retry-while-transient.ts';
import { isWrongType } from './own-type.ts';

/** What a process says of itself or of a run takes a few hundred bytes. */
const MAX_BYTES = 64 * 1024;

/** A key that nobody wrote, or whose value is none of ours: malformed, too long, of another type or version. */
export type Unread = 'absent' | 'unreadable';

/**
 * A short text from Redis, whatever a key holds: no more than 64 KiB of it are asked for. What is not readable is said
 * once and left where it is: who owns the key writes it again, or it comes to its end.
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

/** A JSON value of a form, as `readText` reads. */
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

/** The value of a JSON text; null when it is not of that form. */
export function parseValue<T>(text: string, form: z.ZodType<T>): T | null {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  return form.safeParse(json).data ?? null;
}
