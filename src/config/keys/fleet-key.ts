import { createSecretKey, type KeyObject } from 'node:crypto';
import { isLoopback } from '../../domain/access.ts';
import { usageError } from '../usage-error.ts';
import { FLEET_KEY } from '../settings/entries/environment.ts';
import type { RedisAddress } from '../values/redis-url.ts';

const VARIABLE = FLEET_KEY.name;
/** The length that `openssl rand -hex 16` prints. Allowing shorter keys would invite words. */
const MIN_CHARACTERS = 32;
const HOW_TO_MAKE = 'openssl rand -hex 32 makes one';

/**
 * Reads the secret shared by the processes of a fleet from `GUARDSWEEP_FLEET_KEY`; null if it is not set and Redis is
 * on this machine. Failure('usage') if the key is missing or too short. Never quotes the key.
 */
export function readFleetKey(redis: RedisAddress, env: NodeJS.ProcessEnv): KeyObject | null {
  const key = env[VARIABLE] ?? '';
  if (key !== '') return keyFrom(key);
  if (isLocal(redis)) return null;
  throw usageError(
    redis.place,
    `Redis at ${redis.shown} is not on this machine: set ${VARIABLE} or ${VARIABLE}_FILE, the same for all ` +
      `processes of the fleet (${HOW_TO_MAKE})`,
  );
}

/** Whether the address of a Redis suggests that it can be reached from this machine only. */
function isLocal({ at }: RedisAddress): boolean {
  return 'path' in at || isLoopback(at.host);
}

function keyFrom(key: string): KeyObject {
  if (!/^[\x21-\x7e]*$/.test(key)) {
    throw usageError(
      VARIABLE,
      `expected one line of letters, digits and signs without spaces; ${HOW_TO_MAKE}`,
    );
  }
  if (key.length < MIN_CHARACTERS) {
    throw usageError(VARIABLE, `a key has at least ${MIN_CHARACTERS} characters; ${HOW_TO_MAKE}`);
  }
  return createSecretKey(key, 'utf8');
}
