import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { LANES, type Lane } from '../src/domain/item.ts';
import { errorsOf } from '../src/domain/shard.ts';
import type { WorkerObserver } from '../src/fleet/worker/fleet-worker.ts';
import type { GuardPool } from '../src/guard/pool/pool.ts';

/** Histogram buckets for the items of a shard. */
const SHARD_ITEM_BUCKETS = [1, 8, 32, 64, 128, 192, 256];

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
  guardGauges(pool, registers);

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
        for (const error of errorsOf(result)) items.inc({ lane, outcome: error?.code ?? 'ok' });
      },
    },
  };
}

function guardGauges(pool: GuardPool, registers: Registry[]): void {
  const endpoint = ['endpoint'];
  new Gauge({
    name: 'guardsweep_guard_ready',
    help: '1 while a guard endpoint is in use, 0 while it is out',
    labelNames: endpoint,
    registers,
    collect() {
      for (const { name, state } of pool.status())
        this.set({ endpoint: name }, state.name === 'ready' ? 1 : 0);
    },
  });
  new Gauge({
    name: 'guardsweep_guard_items_in_flight',
    help: 'Items in requests in flight to a guard',
    labelNames: endpoint,
    registers,
    collect() {
      for (const { name, inFlight } of pool.status()) this.set({ endpoint: name }, inFlight);
    },
  });
  new Gauge({
    name: 'guardsweep_guard_items_queued',
    help: 'Items bound to one guard that wait to be sent to it, or for its version',
    labelNames: endpoint,
    registers,
    collect() {
      for (const { name, queued } of pool.status()) this.set({ endpoint: name }, queued);
    },
  });
  new Counter({
    name: 'guardsweep_guard_rows_sent_total',
    help: 'Items sent to a guard, including retries',
    labelNames: endpoint,
    registers,
    collect() {
      this.reset();
      for (const { name, sent } of pool.status()) this.inc({ endpoint: name }, sent.rows);
    },
  });
  new Counter({
    name: 'guardsweep_guard_room_sent_total',
    help: 'Item capacity of the requests sent to a guard: rows sent / room sent is the batch fill',
    labelNames: endpoint,
    registers,
    collect() {
      this.reset();
      for (const { name, sent } of pool.status()) this.inc({ endpoint: name }, sent.room);
    },
  });
  new Counter({
    name: 'guardsweep_guard_starved_seconds_total',
    help: 'Time in which a guard in use had spare capacity, but no suitable item was waiting',
    labelNames: endpoint,
    registers,
    collect() {
      this.reset();
      for (const { name, sent } of pool.status()) this.inc({ endpoint: name }, sent.idleMs / 1000);
    },
  });
  new Gauge({
    name: 'guardsweep_items_waiting',
    help: 'Items that wait for any guard with room for them',
    registers,
    collect() {
      this.set(pool.waiting);
    },
  });
  new Counter({
    name: 'guardsweep_guard_requests_total',
    help: 'Requests that a guard answered with verdicts',
    labelNames: endpoint,
    registers,
    collect() {
      this.reset();
      for (const { name, successes } of pool.status()) this.inc({ endpoint: name }, successes);
    },
  });
  new Counter({
    name: 'guardsweep_guard_retries_total',
    help: 'Requests retried, by cause',
    labelNames: ['endpoint', 'cause'],
    registers,
    collect() {
      this.reset();
      for (const { name, retries } of pool.status()) {
        for (const [cause, count] of Object.entries(retries)) this.inc({ endpoint: name, cause }, count);
      }
    },
  });
}
