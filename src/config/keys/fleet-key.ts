import { createSecretKey, type KeyObject } from 'node:crypto';
import { isLoopback } from '../../domain/access.ts';
import { readKeyFile } from './key-file.ts';
import { usageError } from '../usage-error.ts';
import { FLEET_KEY, FLEET_KEY_FILE } from '../settings/entries/environment.ts';
import type { RedisAddress } from '../values/redis-url.ts';

const VARIABLE = FLEET_KEY.name;
const FILE_VARIABLE = FLEET_KEY_FILE.name;
/** The length that `openssl rand -hex 16` prints. Shorter keys would invite words. */
const MIN_CHARACTERS = 32;
const MAX_FILE_BYTES = 4096;
const HOW_TO_MAKE = 'openssl rand -hex 32 makes one';

/**
 * The secret that the processes of a fleet share, from `GUARDSWEEP_FLEET_KEY` or the file that
 * `GUARDSWEEP_FLEET_KEY_FILE` names; null if neither is set and Redis is on this machine. Failure('usage') for a key that is too short, unreadable, missing, or open to every user; it never quotes the key.
 */
export async function readFleetKey(redis: RedisAddress, env: NodeJS.ProcessEnv): Promise<KeyObject | null> {
  const inline = env[VARIABLE] ?? '';
  const path = env[FILE_VARIABLE] ?? '';
  if (inline !== '' && path !== '')
    throw usageError(FILE_VARIABLE, `${VARIABLE} is set as well: unset one of them`);
  if (path !== '') {
    const file = { place: FILE_VARIABLE, maxBytes: MAX_FILE_BYTES, secret: true };
    return keyFrom(await readKeyFile(path, file), FILE_VARIABLE);
  }
  if (inline !== '') return keyFrom(inline, VARIABLE);
  if (isLocal(redis)) return null;
  throw usageError(
    redis.place,
    `Redis at ${redis.shown} is not on this machine: set ${VARIABLE} or ${FILE_VARIABLE}, the same for all ` +
      `processes of the fleet (${HOW_TO_MAKE})`,
  );
}

/** Whether the address of a Redis suggests that only this machine can reach it. */
function isLocal({ at }: RedisAddress): boolean {
  return 'path' in at || isLoopback(at.host);
}

function keyFrom(text: string, place: string): KeyObject {
  const key = text.replace(/\r?\n$/, '');
  if (!/^[\x21-\x7e]*$/.test(key)) {
    throw usageError(place, `expected one line of letters, digits and signs without spaces; ${HOW_TO_MAKE}`);
  }
  if (key.length < MIN_CHARACTERS) {
    throw usageError(place, `a key has at least ${MIN_CHARACTERS} characters; ${HOW_TO_MAKE}`);
  }
  return createSecretKey(key, 'utf8');
}
