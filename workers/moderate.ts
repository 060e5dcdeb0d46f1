import { randomBytes, type KeyObject } from 'node:crypto';
import { hostname } from 'node:os';
import type { RedisAddress } from '../src/config/values/redis-url.ts';
import type { Lane } from '../src/domain/item.ts';
import type { Say } from '../src/domain/say.ts';
import type { GuardSession } from '../src/guard/pool/guard-session.ts';
import { runFleetWorker } from '../src/fleet/worker/fleet-worker.ts';
import { CorpusFolders } from '../src/moderate/media/corpus-folders.ts';
import { Normalizer } from '../src/normalize/normalizer.ts';
import { RedisLink } from '../src/queue/redis/link.ts';
import { FleetSeal } from '../src/queue/redis/sealing/fleet-seal.ts';
import { announcedGuards, WorkerModels } from '../src/fleet/redis/worker-models.ts';
import { Presence } from '../src/fleet/redis/presence.ts';
import { type GuardPool, sayChanges } from '../src/guard/pool/pool.ts';
import type { MetricsAddress } from '../src/http/metrics-server.ts';
import { Opened } from './opened.ts';
import { serveObserved, untilDrained, type Service } from './service.ts';
import { workerMetrics } from './worker-metrics.ts';

/** Presence expiry as a fraction of the lock duration: a dead worker counts as dead before others get its shards. */
const PRESENCE_SHARE = 0.5;

/** A worker is ready if one of its guards has answered within this time, in milliseconds. */
const ANSWERED_WITHIN_MS = 60_000;

export interface ModerateOptions {
  readonly redis: RedisAddress;
  /** The fleet key; null if jobs and results are not sealed. */
  readonly key: KeyObject | null;
  /** Timeout for connecting to Redis, in milliseconds. */
  readonly startWaitMs: number;
  /** Connects to the guards; called once Redis has answered. */
  readonly openGuards: (signal: AbortSignal) => Promise<GuardSession>;
  readonly lanes: readonly Lane[];
  /** Absolute folder of a corpus's media on this machine, by the name of the corpus. */
  readonly roots: ReadonlyMap<string, string>;
  /** Shards judged concurrently per lane. */
  readonly concurrency: number;
  /**
   * Lock duration, in milliseconds: a worker that does not renew its locks for this long loses its shards to others.
   */
  readonly lockMs: number;
  /** Null if metrics are not served. */
  readonly metrics: MetricsAddress | null;
  readonly say: Say;
}

/** A worker next to GPUs: judges shards of any run with its guards until it is drained. */
export const moderate: Service<ModerateOptions> = (options, ending) =>
  untilDrained(ending, () => run(options, ending));

const run: Service<ModerateOptions> = async (options, { drain, stop }) => {
  const { say, lockMs } = options;
  const opened = new Opened();
  try {
    const link = await RedisLink.open(options.redis, {
      say,
      signal: drain,
      startTimeoutMs: options.startWaitMs,
      seal: options.key && new FleetSeal(options.key),
    });
    opened.closedBy(() => link.close());
    const guards = await options.openGuards(drain);
    opened.closedBy(() => guards.close());
    const { pool } = guards;
    const { metrics, observer } = workerMetrics(pool);
    const needs = { guard: () => hasAnswered(pool) };
    await serveObserved({ opened, metrics, link, address: options.metrics, needs, say });
    const id = randomBytes(6).toString('hex');
    const models = new WorkerModels(link);
    const describe = (): object => ({
      host: hostname(),
      pid: process.pid,
      lanes: options.lanes,
      concurrency: options.concurrency,
      guards: announcedGuards(pool.status()),
      ...models.announced,
    });
    const normalizer = Normalizer.open({});
    opened.closedBy(() => normalizer.close());
    const presence = new Presence(link, 'worker', id, {
      describe,
      expiryMs: lockMs * PRESENCE_SHARE,
    });
    opened.closedBy(() => presence.stop());
    await presence.start();
    sayChanges(pool, say);
    // `status` must not wait for the next interval.
    pool.onStateChange(() => void presence.announce());
    const reading = new AbortController();
    const failed = new AbortController();
    opened.closedBy(() => reading.abort());
    models
      .run(
        { read: (signal) => pool.readModels(signal), announce: () => presence.announce() },
        AbortSignal.any([stop, reading.signal]),
      )
      .catch((error: unknown) => failed.abort(error));
    const lanes = options.lanes.join(', ');
    say(`worker ${id} takes ${lanes} from Redis at ${options.redis.shown}`, { event: 'started' });
    await runFleetWorker({
      link,
      judge: pool,
      normalizer,
      folders: new CorpusFolders(options.roots),
      id,
      lanes: options.lanes,
      guards: pool.status().map(({ name }) => name),
      concurrency: options.concurrency,
      lockMs,
      say,
      observer,
      drain,
      stop: AbortSignal.any([stop, guards.died, failed.signal]),
    });
  } finally {
    await opened.close();
  }
};

function hasAnswered(pool: Pick<GuardPool, 'status'>): boolean {
  const since = performance.now() - ANSWERED_WITHIN_MS;
  return pool.status().some(({ answeredAt }) => answeredAt !== null && answeredAt >= since);
}
