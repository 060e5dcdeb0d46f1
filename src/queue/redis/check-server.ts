import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { RedisAddress } from '../../config/values/redis-url.ts';
import { Failure } from '../../domain/failure.ts';
import type { Say } from '../../domain/say.ts';
import { notifyWhenSlow } from '../../domain/start-notice.ts';
import { connectOptions } from './connect-options.ts';

/** How long a process waits for the server at its start, in milliseconds. */
const START_TIMEOUT_MS = 30_000;
const TRY_EVERY_MS = 500;
/** Timeout for an answer, in milliseconds: a reachable server needs far less. */
const ANSWER_WITHIN_MS = 5000;
const MIN_VERSION = [6, 2] as const;

/** Classifies server errors. Any error in neither list means that the server does not answer. */
const FINAL: readonly (readonly [error: RegExp, what: string])[] = [
  [/^WRONGPASS/, 'does not accept the user or password in the URL'],
  [/^NOAUTH/, 'wants a password: redis://user:password@host'],
  [
    /^NOPERM/,
    'does not let this user run the commands, or use the keys, that a fleet needs: see docs/fleet.md',
  ],
  [/^DENIED/, 'is in protected mode and refuses other machines'],
  [/^MOVED/, 'is a node of a cluster that does not hold the keys of this fleet: name the node that does'],
  [/^ERR (?:DB|SELECT)/, 'does not have the database in the URL; a cluster has only 0'],
  // Codes of Node.js for a certificate that it does not trust.
  [
    /CERT|LEAF_SIGNATURE/,
    'has a certificate that is not trusted (NODE_EXTRA_CA_CERTS names a CA of your own)',
  ],
];
const TRANSIENT: readonly (readonly [error: RegExp, what: string])[] = [
  [/^LOADING/, 'still loads its data'],
  [/^READONLY/, 'is a replica, which takes no writes: name the primary'],
  [/^MISCONF/, 'cannot save to its disk, and takes no writes'],
  [/^CLUSTERDOWN/, 'is a node of a cluster that is down'],
];

/** Writes one of the fleet's keys for a second, which shows whether the server accepts the commands of a fleet. */
const PROBE = "return redis.call('SET', KEYS[1], '1', 'PX', 1000)";

/**
 * Checks before any work begins that a server can serve a fleet: it is Redis 6.2 or newer, never evicts keys, and
 * accepts the login, the database and a write below the prefix. Waits up to 30 s for a server that is not ready, and
 * reports with `say` when that takes long. Failure('service') says what is wrong.
 */
export async function checkServer(
  address: RedisAddress,
  signal: AbortSignal,
  startTimeoutMs: number = START_TIMEOUT_MS,
  say: Say = () => {},
): Promise<void> {
  const name = `Redis at ${address.shown} (${address.place})`;
  const endsAt = performance.now() + startTimeoutMs;
  let transient: string | undefined;
  const missing = (): string => `it ${transient ?? 'does not answer'}`;
  const endNotice = notifyWhenSlow({ subject: name, limitMs: startTimeoutMs, missing, say });
  try {
    for (;;) {
      signal.throwIfAborted();
      const leftMs = Math.max(TRY_EVERY_MS, endsAt - performance.now());
      const error = await tryOnce(name, address, Math.min(ANSWER_WITHIN_MS, leftMs), signal);
      if (error === null) return;
      signal.throwIfAborted();
      const final = whatOf(error, FINAL);
      // A later try may be cut off by the end of the wait, so the last answer counts.
      transient = whatOf(error, TRANSIENT) ?? transient;
      if (final !== undefined || performance.now() + TRY_EVERY_MS > endsAt) {
        const what = final ?? transient ?? `does not answer within ${Math.round(startTimeoutMs / 1000)} s`;
        throw new Failure('service', `${name} ${what}`, { cause: error });
      }
      await delay(TRY_EVERY_MS, undefined, { signal });
    }
  } finally {
    endNotice();
  }
}

function whatOf(error: Error, list: typeof FINAL): string | undefined {
  const { code = '' } = error as NodeJS.ErrnoException;
  return list.find(([form]) => form.test(error.message) || form.test(code))?.[1];
}

/**
 * Null if the server passes; otherwise the error of the client or the server, including a timeout or an aborted signal.
 * Failure('service') for a server that answers and cannot serve a fleet.
 */
async function tryOnce(
  name: string,
  address: RedisAddress,
  withinMs: number,
  signal: AbortSignal,
): Promise<Error | null> {
  const redis = new Redis({ ...connectOptions(address), maxRetriesPerRequest: 0, enableReadyCheck: false });
  // Commands in flight then reject.
  const giveUp = (): void => redis.disconnect();
  const timer = setTimeout(giveUp, withinMs);
  signal.addEventListener('abort', giveUp, { once: true });
  // The reason for a refused connection is emitted as an event; the calls below then reject with fewer details.
  let refused: Error | null = null;
  redis.on('error', (error: Error) => (refused = error));
  try {
    await redis.connect();
    checkInfo(name, (await redis.info('server')) + (await redis.info('memory')));
    // A connection that cannot select its database would use database 0, which may belong to another application.
    await redis.select(address.database);
    await redis.eval(PROBE, 1, `${address.prefix}:probe`);
    return null;
  } catch (error) {
    if (error instanceof Failure) throw error;
    // A full server is transient: this process waits like those that are connected already.
    if ((error as Error).message.startsWith('OOM')) return null;
    return refused ?? (error as Error);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
    redis.disconnect();
  }
}

function checkInfo(name: string, info: string): void {
  const version = /^redis_version:(.*?)\r?$/m.exec(info)?.[1] ?? 'unknown';
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (!(major > MIN_VERSION[0] || (major === MIN_VERSION[0] && minor >= MIN_VERSION[1]))) {
    const needed = `${MIN_VERSION.join('.')} or newer is needed`;
    throw new Failure('service', `${name} has version ${version}; ${needed}`);
  }
  const policy = /^maxmemory_policy:(.*?)\r?$/m.exec(info)?.[1] ?? 'unknown';
  if (policy !== 'noeviction') {
    const what = `has maxmemory-policy ${policy}, which throws work away; set it to noeviction`;
    throw new Failure('service', `${name} ${what}`);
  }
}
