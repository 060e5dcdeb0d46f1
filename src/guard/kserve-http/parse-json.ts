import type { z } from 'zod';

/** The value of a JSON text in UTF-8; null when it is not JSON, or not of this shape. */
export function parseJson<T>(shape: z.ZodType<T>, text: Buffer): T | null {
  try {
    return shape.safeParse(JSON.parse(text.toString('utf8'))).data ?? null;
  } catch {
    // The error is dropped: its text could quote the reply.
    return null;
  }
}
