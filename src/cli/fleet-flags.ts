import { redisAddressOf } from '../config/redis-url.ts';
import { Failure } from '../domain/failure.ts';
import type { FeedUi } from './context.ts';

/** Flags that say who judges a run; absent ones were not given. */
export interface FleetFlags {
  readonly redis?: string | undefined;
  readonly detach?: boolean | undefined;
}

/** Who judges a run: a fleet, where a Redis is named, else this process. */
export function fleetOf(
  { redis, detach = false }: FleetFlags,
  env: NodeJS.ProcessEnv,
): Pick<FeedUi, 'redis' | 'detach'> {
  const address = redisAddressOf(redis, env);
  if (detach && address === null) {
    throw new Failure(
      'usage',
      '--detach: only with Redis (--redis or REDIS_URL), whose workers then judge the run',
    );
  }
  return { redis: address, detach };
}
