import { constants } from 'node:os';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../domain/failure.ts';

/** How a writer of a run's files behaves while the disk is full. */
export interface DiskFullPolicy {
  readonly signal: AbortSignal;
  /** How long to wait for space before the run stops, in milliseconds. */
  readonly maxWaitMs: number;
  /** Interval between attempts, in milliseconds. */
  readonly retryEveryMs: number;
  /** Receives a message for the user when the wait begins (`full`) and when it ends. */
  readonly report: (message: string, full: boolean) => void;
}

/** Interval between attempts while the disk is full, in milliseconds. */
export const DISK_FULL_RETRY_MS = 3000;

/** Whether a system error means that the disk or the user's quota is full. Node has no name for the latter (EDQUOT). */
export function isDiskFull(error: unknown): boolean {
  const { code, errno } = (error ?? {}) as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT' || errno === -constants.errno.EDQUOT;
}

/**
 * Repeats `attempt` while it fails because the disk is full. The attempt must be idempotent: it writes the same bytes
 * to the same place. Rejects with Failure('service') after `maxWaitMs`, with the signal's reason when aborted, and with
 * any other error unchanged.
 */
export async function retryWhileDiskFull<T>(
  file: string,
  attempt: () => Promise<T>,
  policy: DiskFullPolicy,
): Promise<T> {
  let fullSince: number | null = null;
  for (;;) {
    try {
      const value = await attempt();
      if (fullSince !== null) policy.report(`There is disk space again: writing ${file} goes on.`, false);
      return value;
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      const now = performance.now();
      if (fullSince === null) {
        fullSince = now;
        const minutes = Math.max(1, Math.round(policy.maxWaitMs / 60_000));
        policy.report(
          `The disk is full: ${file} cannot be written. Free some space; the run waits up to ${minutes} min and loses nothing.`,
          true,
        );
      } else if (now - fullSince >= policy.maxWaitMs) {
        throw new Failure(
          'service',
          `the disk is still full and ${file} cannot be written: free some space, then resume the run`,
          { cause: error },
        );
      }
    }
    try {
      await delay(policy.retryEveryMs, undefined, { signal: policy.signal });
    } catch {
      policy.signal.throwIfAborted();
    }
  }
}
