import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { type RedisAddress } from '../../config/redis-url.ts';
import { Failure } from '../../domain/failure.ts';
import { connectOptions } from './connect-options.ts';

/** How long a server may take to be there when a process starts, in milliseconds. */
const START_TIMEOUT_MS = 30_000;
const TRY_EVERY_MS = 500;
const OLDEST = [6, 2] as const;

/** Codes with which Redis begins a refusal that waiting does not mend. */
const REFUSALS: Readonly<Record<string, string>> = {
  WRONGPASS: 'does not accept the user or password in the URL',
  NOAUTH: 'wants a password: redis://user:password@host',
  NOPERM: 'does not let this user run the commands that are needed (+@all on the keys of the prefix)',
  DENIED: 'is in protected mode and refuses other machines',
};

/**
 * Makes sure that a server can carry a fleet before any work begins: it answers, takes the login, is Redis 6.2 or
 * newer (or Valkey), and never evicts a key. Waits up to 30 s for one that is not there yet.
 * Failure('service') says in one line what is wrong.
 */
export async function checkServer(
  address: RedisAddress,
  signal: AbortSignal,
  startTimeoutMs: number = START_TIMEOUT_MS,
): Promise<void> {
  const name = `Redis at ${address.shown} (${address.place})`;
  const endsAt = performance.now() + startTimeoutMs;
  for (;;) {
    signal.throwIfAborted();
    try {
      checkInfo(name, await readInfo(address));
      return;
    } catch (error) {
      if (error instanceof Failure) throw error;
      const refusal = REFUSALS[firstWord(error)];
      if (refusal !== undefined) throw new Failure('service', `${name} ${refusal}`, { cause: error });
      if (performance.now() + TRY_EVERY_MS > endsAt) {
        const seconds = Math.round(startTimeoutMs / 1000);
        const failure = new Failure('service', `${name} does not answer within ${seconds} s`, {
          cause: error,
        });
        throw failure;
      }
    }
    await delay(TRY_EVERY_MS, undefined, { signal });
  }
}

async function readInfo(address: RedisAddress): Promise<ReadonlyMap<string, string>> {
  const redis = new Redis({ ...connectOptions(address), maxRetriesPerRequest: 0, enableReadyCheck: false });
  // Refusals also come as events; what matters of them rejects the calls below.
  let refused: unknown = null;
  redis.on('error', (error) => (refused = error));
  try {
    await redis.connect();
    const texts = [await redis.info('server'), await redis.info('memory')];
    const lines = texts.flatMap((text) => text.split('\r\n')).filter((line) => line.includes(':'));
    return new Map(
      lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
    );
  } catch (error) {
    throw REFUSALS[firstWord(refused)] === undefined ? error : refused;
  } finally {
    redis.disconnect();
  }
}

function checkInfo(name: string, info: ReadonlyMap<string, string>): void {
  const version = info.get('redis_version') ?? '';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (!(major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]))) {
    throw new Failure(
      'service',
      `${name} has version ${version || 'unknown'}; ${OLDEST.join('.')} or newer is needed`,
    );
  }
  const policy = info.get('maxmemory_policy') ?? 'unknown';
  if (policy !== 'noeviction') {
    throw new Failure(
      'service',
      `${name} has maxmemory-policy ${policy}, which throws work away; set it to noeviction`,
    );
  }
}

/** The code with which a server's error reply begins. */
function firstWord(error: unknown): string {
  return error instanceof Error ? (/^[A-Z]+\b/.exec(error.message)?.[0] ?? '') : '';
}
