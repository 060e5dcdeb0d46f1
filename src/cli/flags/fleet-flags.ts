import { parseDuration } from '../../config/values/duration.ts';
import { fleetKeyOf } from '../../config/keys/fleet-key.ts';
import { redisAddressOf, type RedisAddress } from '../../config/values/redis-url.ts';
import { Failure } from '../../domain/failure.ts';
import type { CommandContext, FeedUi, FleetAccess } from '../context.ts';

/** Flags that say who judges a run; absent ones were not given. */
export interface FleetFlags {
  readonly redis?: string | undefined;
  readonly insecureFleet?: boolean | undefined;
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

/** The Redis that a process of the fleet cannot do without. */
export async function neededFleet(
  { redis, insecureFleet }: Pick<FleetFlags, 'redis' | 'insecureFleet'>,
  context: CommandContext,
): Promise<FleetAccess> {
  const address = redisAddressOf(redis, context.env);
  if (address === null) throw new Failure('usage', 'name the Redis of the fleet with --redis or REDIS_URL');
  return fleetAccess(address, insecureFleet, context);
}

async function fleetAccess(
  redis: RedisAddress,
  insecure: boolean | undefined,
  { env }: CommandContext,
): Promise<FleetAccess> {
  const key = await fleetKeyOf({ redis, insecure: insecure === true, env });
  return { redis, key, insecure: insecure === true };
}

/** Who judges a run: a fleet, where a Redis is named, else this process. */
export async function fleetOf(
  { redis, insecureFleet, detach = false, startWait }: FleetFlags,
  context: CommandContext,
): Promise<Pick<FeedUi, 'fleet' | 'detach' | 'startWaitMs'>> {
  const address = redisAddressOf(redis, context.env);
  if (detach && address === null) {
    throw new Failure(
      'usage',
      '--detach: only with Redis (--redis or REDIS_URL), whose workers then judge the run',
    );
  }
  const fleet = address === null ? null : await fleetAccess(address, insecureFleet, context);
  return { fleet, detach, startWaitMs: startWaitOf(startWait) };
}
