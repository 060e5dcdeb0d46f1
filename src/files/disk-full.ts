import { constants } from 'node:os';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { Failure } from '../domain/failure.ts';

/** What a writer of the run's record does while the disk has no room. */
export interface DiskFullPolicy {
  readonly signal: AbortSignal;
  /** How long to wait for room before the run stops, in milliseconds. */
  readonly maxWaitMs: number;
  /** Between two tries, in milliseconds. */
  readonly retryEveryMs: number;
  /** One line for people, when waiting begins and when it is over. */
  readonly report: (message: string, full: boolean) => void;
}

/** Between two tries while the disk is full, in milliseconds. */
export const DISK_FULL_RETRY_MS = 3000;

/** Whether a system error says that the disk, or the user's share of it, is full. Node has no name for the latter. */
export function isDiskFull(error: unknown): boolean {
  const { code, errno } = (error ?? {}) as NodeJS.ErrnoException;
  return code === 'ENOSPC' || code === 'EDQUOT' || errno === -constants.errno.EDQUOT;
}

/**
 * Runs `attempt` until it does not fail for want of disk space. The attempt must be one that can be made again from
 * its beginning: it writes the same bytes to the same place.
 * Throws Failure('service') after `maxWaitMs`, the signal's reason when aborted, and any other error as it is.
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
