import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { RedisAddress } from '../../config/values/redis-url.ts';
import { Failure } from '../../domain/failure.ts';
import { notifyWhenSlow } from '../../domain/start-notice.ts';
import { connectOptions } from './connect-options.ts';

/** How long a process waits for the server at its start, in milliseconds. */
const START_TIMEOUT_MS = 30_000;
const TRY_EVERY_MS = 500;
/**
 * A reachable server answers in far less; a connection without an answer is given up after this time, in milliseconds.
 */
const ANSWER_WITHIN_MS = 5000;
const MIN_VERSION = [6, 2] as const;

/** Redis error codes that are not transient. */
const REFUSALS: Readonly<Record<string, string>> = {
  WRONGPASS: 'does not accept the user or password in the URL',
  NOAUTH: 'wants a password: redis://user:password@host',
  NOPERM: 'does not let this user run the commands, or use the keys, that a fleet needs: see docs/fleet.md',
  DENIED: 'is in protected mode and refuses other machines',
  MOVED: 'is a node of a cluster that does not hold the keys of this fleet: name the node that does',
};

/** Redis error codes that may be transient, used to describe the server while it is not ready. */
const NOT_YET: Readonly<Record<string, string>> = {
  LOADING: 'still loads its data',
  READONLY: 'is a replica, which takes no writes: name the primary',
  MISCONF: 'cannot save to its disk, and takes no writes',
  CLUSTERDOWN: 'is a node of a cluster that is down',
};

/** Error codes of Node.js for a certificate that it does not trust. */
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

/** Writes one of the fleet's keys for a second, which shows whether the server accepts the commands of a fleet. */
const PROBE = "return redis.call('SET', KEYS[1], '1', 'PX', 1000)";

/**
 * Checks before any work begins that a server can serve a fleet: it is reachable, its certificate is trusted, it
 * accepts the login, has the database, lets the user write below the prefix, is Redis 6.2 or newer, and never evicts
 * keys. Waits up to 30 s for a server that is not ready, and reports with `say` when that takes long.
 * Failure('service') says what is wrong.
 */
export async function checkServer(
  address: RedisAddress,
  signal: AbortSignal,
  startTimeoutMs: number = START_TIMEOUT_MS,
  say: (message: string) => void = () => {},
): Promise<void> {
  let answer = '';
  const missing = (): string => `it ${NOT_YET[answer] ?? 'does not answer'}`;
  const endNotice = notifyWhenSlow({ subject: nameOf(address), limitMs: startTimeoutMs, missing, say });
  try {
    await untilThere(address, signal, startTimeoutMs, (code) => (answer = code));
  } finally {
    endNotice();
  }
}

function nameOf({ shown, place }: RedisAddress): string {
  return `Redis at ${shown} (${place})`;
}

/**
 * Retries until the server passes. `failed` is called with the error code of each attempt, or '' when there was no
 * reply.
 */
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
 * Rejects with a Failure for what retrying cannot fix, else with the error of the client or the server; also when the
 * server does not answer in time or the signal is aborted.
 */
async function tryOnce(
  name: string,
  address: RedisAddress,
  withinMs: number,
  signal: AbortSignal,
): Promise<void> {
  const redis = new Redis({ ...connectOptions(address), maxRetriesPerRequest: 0, enableReadyCheck: false });
  // Commands in flight then reject.
  const giveUp = (): void => redis.disconnect();
  const timer = setTimeout(giveUp, withinMs);
  signal.addEventListener('abort', giveUp, { once: true });
  // Errors are emitted as events too; those that matter also reject the calls below.
  let refused: unknown = null;
  redis.on('error', (error) => (refused = error));
  try {
    await redis.connect();
    checkInfo(name, await readInfo(redis));
    await useDatabase(redis, name, address.database);
    await redis.eval(PROBE, 1, `${address.prefix}:probe`).catch((error: unknown) => {
      // A full server is transient: this process waits like those that are connected already.
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

/** A connection that cannot select its database would use database 0, which may belong to another application. */
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

/** The error code that an error reply begins with. */
function firstWord(error: unknown): string {
  return error instanceof Error ? (/^[A-Z]+\b/.exec(error.message)?.[0] ?? '') : '';
}
