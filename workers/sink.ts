import { randomBytes, type KeyObject } from 'node:crypto';
import { access, constants } from 'node:fs/promises';
import { hostname } from 'node:os';
import type { Say } from '../src/domain/say.ts';
import type { RedisAddress } from '../src/config/values/redis-url.ts';
import { RedisLink } from '../src/queue/redis/link.ts';
import { FleetSeal } from '../src/queue/redis/sealing/fleet-seal.ts';
import { Presence } from '../src/fleet/redis/presence.ts';
import { runFleetSink } from '../src/fleet/sink/fleet-sink.ts';
import type { SinkAfterFinish } from '../src/fleet/sink/held-run.ts';
import type { MetricsAddress } from '../src/http/metrics-server.ts';
import { Opened } from './opened.ts';
import { addQueueMetrics } from './queue-metrics.ts';
import { serveObserved, untilDrained, type Service } from './service.ts';
import { sinkMetrics } from './sink-metrics.ts';

const PRESENCE_EXPIRY_MS = 10_000;

interface SinkOptions {
  readonly redis: RedisAddress;
  /** The fleet key; null if jobs and results are not sealed. */
  readonly key: KeyObject | null;
  /** Timeout for connecting to Redis, in milliseconds. */
  readonly startWaitMs: number;
  /** Absolute folders that contain run directories. */
  readonly roots: readonly string[];
  /** Path of this user's key file, see runKeyFile. */
  readonly keyFile: string | null;
  /** Null if metrics are not served. */
  readonly metrics: MetricsAddress | null;
  readonly afterFinish: SinkAfterFinish;
  readonly say: Say;
}

/** A sink: commits results and finishes runs until it is drained. */
export const sink: Service<SinkOptions> = (options, ending) =>
  untilDrained(ending, () => run(options, ending));

const run: Service<SinkOptions> = async (options, { drain, stop }) => {
  const { say, roots, keyFile, afterFinish } = options;
  const opened = new Opened();
  try {
    const link = await RedisLink.open(options.redis, {
      say,
      signal: drain,
      startTimeoutMs: options.startWaitMs,
      seal: options.key && new FleetSeal(options.key),
    });
    opened.closedBy(() => link.close());
    const { metrics, observer, fullDisks } = sinkMetrics();
    addQueueMetrics(metrics, link);
    const needs = { root: () => areWritable(roots) };
    await serveObserved({ opened, metrics, link, address: options.metrics, needs, say });
    const id = randomBytes(6).toString('hex');
    const describe = (): object => ({ host: hostname(), pid: process.pid, diskFull: [...fullDisks] });
    const presence = new Presence(link, 'sink', id, { describe, expiryMs: PRESENCE_EXPIRY_MS });
    opened.closedBy(() => presence.stop());
    await presence.start();
    const where = `below ${roots.join(', ')} from Redis at ${options.redis.shown}`;
    say(`sink ${id} commits runs ${where}`, { event: 'started' });
    await runFleetSink({ link, id, roots, keyFile, say, observer, afterFinish, drain, stop });
  } finally {
    await opened.close();
  }
};

/** Whether run directories can be written in all folders. */
async function areWritable(folders: readonly string[]): Promise<boolean> {
  const checks = folders.map((folder) => access(folder, constants.W_OK | constants.X_OK));
  return Promise.all(checks).then(
    () => true,
    () => false,
  );
}
