import { collectDefaultMetrics } from 'prom-client';
import { Failure } from '../src/domain/failure.ts';
import type { Say } from '../src/domain/say.ts';
import { type MetricsAddress, type Readiness, serveMetrics } from '../src/http/metrics-server.ts';
import type { Metrics } from '../src/metrics/metrics.ts';
import type { RedisLink } from '../src/queue/redis/link.ts';
import type { Opened } from './opened.ts';

/** Signals that ask a process to end. */
interface Ending {
  /** Aborts first: start nothing new, finish and hand on work in flight. */
  readonly drain: AbortSignal;
  /** Aborts 10 s later or at a second signal: abandon work in flight. */
  readonly stop: AbortSignal;
}

/**
 * A long-running process. Resolves when it was drained; rejects with the reason of `stop` when work in flight was
 * abandoned, and with a Failure when it cannot continue. Everything it started has stopped when its promise settles.
 */
export type Service<Options> = (options: Options, ending: Ending) => Promise<void>;

/** Runs a service until it is drained, which is its normal end. Rejects as `Service` describes. */
export async function untilDrained({ drain, stop }: Ending, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (stop.aborted || !drain.aborted || !isInterruption(error)) throw error;
  }
}

interface ObservedProcess {
  readonly opened: Opened;
  readonly metrics: Metrics;
  readonly link: Pick<RedisLink, 'answers' | 'away'>;
  /** Null to serve nothing. */
  readonly address: MetricsAddress | null;
  /** Needs of the process besides Redis. */
  readonly needs: Readiness;
  readonly say: Say;
}

/** Serves the metrics and the health of a process until `opened` is closed, and prints the address. */
export async function serveObserved(process: ObservedProcess): Promise<void> {
  const { opened, metrics, link, address, needs, say } = process;
  if (address === null) return;
  metrics.gauge('guardsweep_redis_up', (gauge) => gauge.set(link.away ? 0 : 1));
  collectDefaultMetrics({ register: metrics.registry });
  const server = await serveMetrics(metrics.registry, address, { redis: () => link.answers(), ...needs });
  opened.closedBy(() => server.close());
  say(`metrics at ${server.url}`, { event: 'listening' });
}

/** Whether an error ends a wait early: the signal's reason, or an AbortError of Node. */
function isInterruption(error: unknown): boolean {
  return error instanceof Failure
    ? error.kind === 'interrupted'
    : error instanceof Error && error.name === 'AbortError';
}
