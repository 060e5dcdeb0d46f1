/** Max Retry-After that is honored, in milliseconds. */
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

/** A Retry-After header, seconds or an HTTP date, in milliseconds from now. Null when it is left out or malformed. */
export function retryAfterMs(header: string | undefined, now: number = Date.now()): number | null {
  const text = header?.trim() ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);
}
