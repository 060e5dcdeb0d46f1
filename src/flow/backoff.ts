import { randomInt } from 'node:crypto';

const RETRY_BASE_MS = 50;
const RETRY_CAP_MS = 5000;

/**
 * Milliseconds to wait before try number `attempt` (from 1): doubling from `baseMs` up to `capMs`, of which a
 * random half is taken off, so that clients which failed together do not return together.
 */
export function backoffMs(attempt: number, baseMs: number, capMs: number): number {
  const full = Math.min(capMs, baseMs * 2 ** Math.min(attempt - 1, 30));
  return full - randomInt(Math.floor(full / 2) + 1);
}

/** The same for what is asked again of a guard that is in use: 50 ms doubling up to 5 s. */
export function retryMs(attempt: number): number {
  return backoffMs(attempt, RETRY_BASE_MS, RETRY_CAP_MS);
}
