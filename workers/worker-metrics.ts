import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { LANES, type Lane } from '../src/domain/item.ts';
import { listErrors } from '../src/domain/shard.ts';
import type { WorkerObserver } from '../src/fleet/worker/fleet-worker.ts';
import type { GuardPool } from '../src/guard/pool/pool.ts';
import { addPoolMetrics } from '../src/guard/pool/pool-metrics.ts';

/** Histogram buckets for the items of a shard. */
const SHARD_ITEM_BUCKETS = [1, 8, 32, 64, 128, 256, 384, 512];

interface WorkerMetrics {
  readonly registry: Registry;
  readonly observer: WorkerObserver;
}

/**
 * A worker's metrics: items by outcome, shard and batch fill, work in flight, retries by cause, guard state and guard idle
 * time.
 */
export function workerMetrics(pool: GuardPool): WorkerMetrics {
  const registry = new Registry();
  const registers = [registry];
  const items = new Counter({
    name: 'guardsweep_items_total',
    help: 'Items judged, by lane and outcome: ok, or the code of an error',
    labelNames: ['lane', 'outcome'],
    registers,
  });
  const shards = new Histogram({
    name: 'guardsweep_shard_items',
    help: 'Items of the shards judged',
    labelNames: ['lane'],
    buckets: SHARD_ITEM_BUCKETS,
    registers,
  });
  const inFlight = new Gauge({
    name: 'guardsweep_shards_in_flight',
    help: 'Shards being judged',
    labelNames: ['lane'],
    registers,
  });
  for (const lane of LANES) inFlight.set({ lane }, 0);
  const dropped = new Counter({
    name: 'guardsweep_jobs_dropped_total',
    help: 'Jobs that no feeder made, by reason',
    labelNames: ['reason'],
    registers,
  });
  let running = 0;
  let idleSince: number | null = performance.now();
  const idle = new Counter({
    name: 'guardsweep_guard_idle_seconds_total',
    help: 'Time in which this worker had no shard for its guards',
    registers,
    collect: () => countIdle(),
  });
  const countIdle = (): void => {
    if (idleSince === null) return;
    const now = performance.now();
    idle.inc((now - idleSince) / 1000);
    idleSince = now;
  };
  addPoolMetrics(registry, pool);

  return {
    registry,
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
        for (const error of listErrors(result)) items.inc({ lane, outcome: error?.code ?? 'ok' });
      },
    },
  };
}
