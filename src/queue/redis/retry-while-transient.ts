import { setTimeout as delay } from 'node:timers/promises';
import { abortable } from '../../flow/abortable.ts';

const TRY_EVERY_MS = 500;

/**
 * Codes with which Redis begins a refusal that passes: no memory, loading, failing over, a full disk, the keys moved to
 * another node of a cluster and not back yet.
 */
const PASSING: ReadonlySet<string> = new Set([
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

/** Whether a server's refusal is one that waiting mends. */
export function isPassing(error: unknown): boolean {
  return error instanceof Error && PASSING.has(/^[A-Z]+\b/.exec(error.message)?.[0] ?? '');
}

/**
 * Asks Redis until it takes what it is asked. Only for commands that can be sent twice. Rejects with the signal's
 * reason, or with a refusal that waiting does not mend.
 */
export async function retryWhileTransient<T>(ask: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await abortable(ask(), signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!isPassing(error)) throw error;
    }
    await delay(TRY_EVERY_MS, undefined, { signal });
  }
}
