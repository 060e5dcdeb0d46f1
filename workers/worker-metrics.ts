import { LANES, type Lane } from '../src/domain/item.ts';
import type { Judgement } from '../src/domain/outcome.ts';
import { listErrors, type ShardResult } from '../src/domain/shard.ts';
import type { WorkerObserver } from '../src/fleet/worker/fleet-worker.ts';
import type { GuardPool } from '../src/guard/pool/pool.ts';
import { addPoolMetrics } from '../src/guard/pool/pool-metrics.ts';
import { Metrics } from '../src/metrics/metrics.ts';

/** Histogram buckets for the items of a shard. */
const SHARD_ITEM_BUCKETS = [1, 8, 32, 64, 128, 256, 384, 512];

/** Histogram buckets for the time of a request, in seconds: from a short text to a batch of images. */
const LATENCY_BUCKETS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30];

interface WorkerMetrics {
  readonly metrics: Metrics;
  readonly observer: WorkerObserver;
}

/**
 * A worker's metrics: items by outcome, shard and batch fill, work in flight, retries by cause, guard state and guard
 * idle time.
 */
export function workerMetrics(pool: GuardPool): WorkerMetrics {
  const metrics = new Metrics();
  const items = metrics.counter('guardsweep_items_total');
  const shards = metrics.histogram('guardsweep_shard_items', SHARD_ITEM_BUCKETS);
  const latency = metrics.histogram('guardsweep_guard_latency_seconds', LATENCY_BUCKETS);
  const inFlight = metrics.gauge('guardsweep_shards_in_flight');
  for (const lane of LANES) inFlight.set({ lane }, 0);
  const dropped = metrics.counter('guardsweep_jobs_dropped_total');
  let running = 0;
  let idleMs = 0;
  let idleSince: number | null = performance.now();
  const countIdle = (): void => {
    if (idleSince === null) return;
    const now = performance.now();
    idleMs += now - idleSince;
    idleSince = now;
  };
  metrics.counter('guardsweep_guard_idle_seconds_total', (counter) => {
    countIdle();
    counter.inc(idleMs / 1000);
  });
  addPoolMetrics(metrics, pool);

  return {
    metrics,
    observer: {
      begun: (lane: Lane) => {
        countIdle();
        idleSince = null;
        running++;
        inFlight.inc({ lane });
      },
      dropped: (reason) => dropped.inc({ reason }),
      ended: (lane, result) => {
        inFlight.dec({ lane });
        if (--running === 0) idleSince = performance.now();
        if (result === null) return;
        shards.observe({ lane }, result.shard.items.length);
        for (const { endpoint, latencyMs } of requestsOf(result)) {
          latency.observe({ guard: endpoint }, latencyMs / 1000);
        }
        for (const error of listErrors(result)) items.inc({ lane, outcome: error?.code ?? 'ok' });
      },
    },
  };
}

/** One judgement of each request that judged a shard. Reused verdicts had theirs in another run. */
function requestsOf({ outcomes }: Pick<ShardResult, 'outcomes'>): Iterable<Judgement> {
  const requests = new Map<string, Judgement>();
  for (const outcome of outcomes) {
    if (!outcome?.judgement) continue;
    const { endpoint, moderatedAt, latencyMs } = outcome.judgement;
    requests.set(`${endpoint} ${moderatedAt} ${latencyMs}`, outcome.judgement);
  }
  return requests.values();
}
