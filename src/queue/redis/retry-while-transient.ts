import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../../domain/failure.ts';
import { abortable } from '../../flow/abortable.ts';

const RETRY_EVERY_MS = 500;

/**
 * Redis error codes that are transient: out of memory, loading, failing over, a full disk, or keys that a cluster is
 * moving. https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors
 */
const TRANSIENT: ReadonlySet<string> = new Set([
  'OOM',
  'LOADING',
  'READONLY',
  'MISCONF',
  'MASTERDOWN',
  'CLUSTERDOWN',
  'TRYAGAIN',
  'MOVED',
  'ASK',
  'BUSY',
  'NOREPLICAS',
  'UNBLOCKED',
]);

/** Whether an error reply of Redis is transient. */
function isTransient(error: unknown): boolean {
  return error instanceof Error && TRANSIENT.has(/^[A-Z]+\b/.exec(error.message)?.[0] ?? '');
}

/**
 * Sends a command to Redis until it succeeds or fails with an error that is not transient. For idempotent commands
 * only. Rejects with that error, or with the signal's reason; Failure('service') for a command that Redis refuses.
 */
export async function retryWhileTransient<T>(send: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await abortable(send(), signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!isTransient(error)) throw isRefusal(error) ? refused(error) : error;
    }
    await delay(RETRY_EVERY_MS, undefined, { signal });
  }
}

function isRefusal(error: unknown): error is Error {
  return error instanceof Error && error.name === 'ReplyError';
}

/** The failure for keys that our processes did not write. */
function refused(cause: Error): Failure {
  const code = /^[A-Z]+\b/.exec(cause.message)?.[0] ?? 'ERR';
  const what = 'find out what else writes to this Redis, or empty the database';
  return new Failure('service', `Redis refused a command of the fleet (${code}): ${what}`, { cause });
}
