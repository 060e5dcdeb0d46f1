import { fleetKeyOf } from '../../config/keys/fleet-key.ts';
import { DETACH, FLEET_REDIS, INSECURE_FLEET, REDIS } from '../../config/settings/entries/fleet.ts';
import { type Flags, valueOf } from '../../config/settings/given.ts';
import type { RedisAddress } from '../../config/values/redis-url.ts';
import { Failure } from '../../domain/failure.ts';
import type { CommandContext, FeedUi, FleetAccess } from '../context.ts';

/** The fleet of a process that cannot do without one. Failure('usage') when no Redis is named. */
export async function neededFleet(flags: Flags, context: CommandContext): Promise<FleetAccess> {
  return accessTo(await valueOf(FLEET_REDIS, { flags, ...context }), flags, context);
}

async function accessTo(redis: RedisAddress, flags: Flags, context: CommandContext): Promise<FleetAccess> {
  const insecure = await valueOf(INSECURE_FLEET, { flags, ...context });
  const key = await fleetKeyOf({ redis, insecure, env: context.env });
  return { redis, key, insecure };
}

/** Who judges a run: a fleet, where a Redis is named, else this process. */
export async function fleetOf(
  flags: Flags,
  context: CommandContext,
): Promise<Pick<FeedUi, 'fleet' | 'detach'>> {
  const redis = await valueOf(REDIS, { flags, ...context });
  const detach = await valueOf(DETACH, { flags, ...context });
  if (detach && redis === null) {
    throw new Failure(
      'usage',
      '--detach: only with Redis (--redis or REDIS_URL), whose workers then judge the run',
    );
  }
  return { fleet: redis === null ? null : await accessTo(redis, flags, context), detach };
}
