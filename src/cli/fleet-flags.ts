import { parseDuration } from '../config/duration.ts';
import { redisAddressOf } from '../config/redis-url.ts';
import { Failure } from '../domain/failure.ts';
import type { FeedUi } from './context.ts';

/** Flags that say who judges a run; absent ones were not given. */
export interface FleetFlags {
  readonly redis?: string | undefined;
  readonly detach?: boolean | undefined;
  readonly startWait?: string | undefined;
}

const DEFAULT_START_WAIT_MS = 30_000;

/**
 * How long services may take to be there at the start, in milliseconds: as long as later, where only that was said, so
 * that whoever keeps a process running need not start it again and again.
 */
export function startWaitOf(startWait: string | undefined, maxWaitMs: number | null = null): number {
  if (startWait !== undefined) return parseDuration({ value: startWait, place: '--start-wait' });
  return maxWaitMs ?? DEFAULT_START_WAIT_MS;
}

/** Who judges a run: a fleet, where a Redis is named, else this process. */
export function fleetOf(
  { redis, detach = false, startWait }: FleetFlags,
  env: NodeJS.ProcessEnv,
): Pick<FeedUi, 'redis' | 'detach' | 'startWaitMs'> {
  const address = redisAddressOf(redis, env);
  if (detach && address === null) {
    throw new Failure(
      'usage',
      '--detach: only with Redis (--redis or REDIS_URL), whose workers then judge the run',
    );
  }
  return { redis: address, detach, startWaitMs: startWaitOf(startWait) };
}
