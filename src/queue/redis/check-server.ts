import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { RedisAddress } from '../../config/values/redis-url.ts';
import { Failure } from '../../domain/failure.ts';
import { sayWhenSlow } from '../../domain/start-notice.ts';
import { connectOptions } from './connect-options.ts';

/** How long a server may take to be there when a process starts, in milliseconds. */
const START_TIMEOUT_MS = 30_000;
const TRY_EVERY_MS = 500;
/** A server that is there answers in far less; a connection over which nothing comes is given up, in milliseconds. */
const ANSWER_WITHIN_MS = 5000;
const MIN_VERSION = [6, 2] as const;

/** Codes with which Redis begins a refusal that waiting does not mend. */
const REFUSALS: Readonly<Record<string, string>> = {
  WRONGPASS: 'does not accept the user or password in the URL',
  NOAUTH: 'wants a password: redis://user:password@host',
  NOPERM: 'does not let this user run the commands, or use the keys, that a fleet needs: see docs/fleet.md',
  DENIED: 'is in protected mode and refuses other machines',
  MOVED: 'is a node of a cluster that does not hold the keys of this fleet: name the node that does',
};

/** What else can be wrong with a server that answers; the last answer tells. */
const NOT_YET: Readonly<Record<string, string>> = {
  LOADING: 'still loads its data',
  READONLY: 'is a replica, which takes no writes: name the primary',
  MISCONF: 'cannot save to its disk, and takes no writes',
  CLUSTERDOWN: 'is a node of a cluster that is down',
};

/** Codes of Node.js for a certificate that it does not accept. */
const NOT_TRUSTED: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/** Writes a key of the fleet's for a second: shows whether the server takes what a fleet will ask of it. */
const PROBE = "return redis.call('SET', KEYS[1], '1', 'PX', 1000)";

/**
 * Makes sure that a server can carry a fleet before any work begins: it answers, has a certificate that is trusted,
 * takes the login, has the database, lets the user write below the prefix, is Redis 6.2 or newer, and never evicts a
 * key. Waits up to 30 s for one that is not there yet, and says so with `say` when that takes long.
 * Failure('service') says in one line what is wrong.
 */
export async function checkServer(
  address: RedisAddress,
  signal: AbortSignal,
  startTimeoutMs: number = START_TIMEOUT_MS,
  say: (message: string) => void = () => {},
): Promise<void> {
  let answer = '';
  const missing = (): string => `it ${NOT_YET[answer] ?? 'does not answer'}`;
  const endNotice = sayWhenSlow({ subject: nameOf(address), limitMs: startTimeoutMs, missing, say });
  try {
    await untilThere(address, signal, startTimeoutMs, (code) => (answer = code));
  } finally {
    endNotice();
  }
}

function nameOf({ shown, place }: RedisAddress): string {
  return `Redis at ${shown} (${place})`;
}

/** Tries again and again; `failed` is told the code of the server's answer, or an empty one when there was none. */
async function untilThere(
  address: RedisAddress,
  signal: AbortSignal,
  startTimeoutMs: number,
  failed: (code: string) => void,
): Promise<void> {
  const name = nameOf(address);
  const endsAt = performance.now() + startTimeoutMs;
  for (;;) {
    signal.throwIfAborted();
    try {
      const leftMs = Math.max(TRY_EVERY_MS, endsAt - performance.now());
      return await tryOnce(name, address, Math.min(ANSWER_WITHIN_MS, leftMs), signal);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof Failure) throw error;
      const code = firstWord(error);
      failed(code);
      const refusal = REFUSALS[code];
      if (refusal !== undefined) throw new Failure('service', `${name} ${refusal}`, { cause: error });
      if (performance.now() + TRY_EVERY_MS > endsAt) {
        const seconds = Math.round(startTimeoutMs / 1000);
        const what = NOT_YET[code] ?? `does not answer within ${seconds} s`;
        throw new Failure('service', `${name} ${what}`, { cause: error });
      }
    }
    await delay(TRY_EVERY_MS, undefined, { signal });
  }
}

/**
 * Throws a Failure for what waiting does not mend as far as it can tell, else the client's or server's error; also
 * when the server does not answer within a time, or the signal aborts.
 */
async function tryOnce(
  name: string,
  address: RedisAddress,
  withinMs: number,
  signal: AbortSignal,
): Promise<void> {
  const redis = new Redis({ ...connectOptions(address), maxRetriesPerRequest: 0, enableReadyCheck: false });
  // What is under way then rejects.
  const giveUp = (): void => redis.disconnect();
  const timer = setTimeout(giveUp, withinMs);
  signal.addEventListener('abort', giveUp, { once: true });
  // Refusals also come as events; what matters of them rejects the calls below.
  let refused: unknown = null;
  redis.on('error', (error) => (refused = error));
  try {
    await redis.connect();
    checkInfo(name, await readInfo(redis));
    await useDatabase(redis, name, address.database);
    await redis.eval(PROBE, 1, `${address.prefix}:probe`).catch((error: unknown) => {
      // Who comes to a server that is full waits like those that were there before.
      if (firstWord(error) !== 'OOM') throw error;
    });
  } catch (error) {
    if (NOT_TRUSTED.has((refused as NodeJS.ErrnoException | null)?.code ?? '')) {
      const what = 'has a certificate that is not trusted (NODE_EXTRA_CA_CERTS names a CA of your own)';
      throw new Failure('service', `${name} ${what}`, { cause: refused });
    }
    throw REFUSALS[firstWord(refused)] === undefined ? error : refused;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
    redis.disconnect();
  }
}

async function readInfo(redis: Redis): Promise<ReadonlyMap<string, string>> {
  const texts = [await redis.info('server'), await redis.info('memory')];
  const lines = texts.flatMap((text) => text.split('\r\n')).filter((line) => line.includes(':'));
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]));
}

/** A connection that cannot change to its database would work in number 0, beside whoever that belongs to. */
async function useDatabase(redis: Redis, name: string, database: number): Promise<void> {
  if (database === 0) return;
  try {
    await redis.select(database);
  } catch (error) {
    if (firstWord(error) !== 'ERR') throw error;
    const failure = new Failure('service', `${name} has no database ${database}; a cluster has only 0`, {
      cause: error,
    });
    throw failure;
  }
}

function checkInfo(name: string, info: ReadonlyMap<string, string>): void {
  const version = info.get('redis_version') ?? '';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (!(major > MIN_VERSION[0] || (major === MIN_VERSION[0] && minor >= MIN_VERSION[1]))) {
    throw new Failure(
      'service',
      `${name} has version ${version || 'unknown'}; ${MIN_VERSION.join('.')} or newer is needed`,
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
