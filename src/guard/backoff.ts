import { randomInt } from 'node:crypto';

/**
 * Milliseconds to wait before try number `attempt` (from 1): doubling from `baseMs` up to `capMs`, of which a
 * random half is taken off, so that clients which failed together do not return together.
 */
export function backoffMs(attempt: number, baseMs: number, capMs: number): number {
  const full = Math.min(capMs, baseMs * 2 ** Math.min(attempt - 1, 30));
  return full - randomInt(Math.floor(full / 2) + 1);
}
