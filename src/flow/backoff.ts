import { randomInt } from 'node:crypto';

const RETRY_BASE_MS = 50;
const RETRY_CAP_MS = 5000;

/**
 * Exponential backoff before attempt number `attempt` (from 1), in milliseconds: doubles from `baseMs` up to `capMs`,
 * minus a random part of up to half, so that clients that failed together do not retry together.
 */
export function backoffMs(attempt: number, baseMs: number, capMs: number): number {
  const full = Math.min(capMs, baseMs * 2 ** Math.min(attempt - 1, 30));
  return full - randomInt(Math.floor(full / 2) + 1);
}

/** Backoff in milliseconds before a request to a busy guard is retried: 50 ms, doubling up to 5 s. */
export function retryMs(attempt: number): number {
  return backoffMs(attempt, RETRY_BASE_MS, RETRY_CAP_MS);
}
