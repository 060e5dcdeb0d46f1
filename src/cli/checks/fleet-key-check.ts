import { fleetKeyOf } from '../../config/keys/fleet-key.ts';
import type { RedisAddress } from '../../config/values/redis-url.ts';
import { Failure } from '../../domain/failure.ts';
import type { Check } from './machine-checks.ts';

/** Random hex digits have more; a word, or one that is repeated, has not. */
const MIN_DIFFERENT = 8;
const WHAT = 'fleet key';
const REMEDY =
  'set GUARDSWEEP_FLEET_KEY, the same for all processes of the fleet; openssl rand -hex 32 makes one';

/** Whether a fleet over this Redis has the key that it needs, and one that is hard to guess. Never quotes it. */
export async function checkFleetKey(redis: RedisAddress, env: NodeJS.ProcessEnv): Promise<Check> {
  try {
    const key = await fleetKeyOf({ redis, insecure: false, env });
    if (key === null) {
      const found = 'none; Redis is on this machine, and who can write to it can forge outcomes';
      return { what: WHAT, ok: true, found, todo: null };
    }
    if (new Set(key.export()).size < MIN_DIFFERENT) {
      return {
        what: WHAT,
        ok: false,
        found: 'set, and easy to guess: few different characters',
        todo: REMEDY,
      };
    }
    return { what: WHAT, ok: true, found: 'set', todo: null };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { what: WHAT, ok: false, found: error.message, todo: REMEDY };
  }
}
