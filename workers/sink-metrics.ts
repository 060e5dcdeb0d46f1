import { Counter, Gauge, Registry } from 'prom-client';
import { listErrors } from '../src/domain/shard.ts';
import type { SinkObserver } from '../src/fleet/sink/fleet-sink.ts';

interface SinkMetrics {
  readonly registry: Registry;
  readonly observer: SinkObserver;
  /** Runs that wait for space on their disk. */
  readonly fullDisks: ReadonlySet<string>;
}

/** A sink's metrics: runs held, shards and items committed, runs finished, full disks. */
export function sinkMetrics(): SinkMetrics {
  const registry = new Registry();
  const registers = [registry];
  const held = new Gauge({ name: 'guardsweep_runs_held', help: 'Runs this sink commits', registers });
  const shards = new Counter({
    name: 'guardsweep_shards_committed_total',
    help: 'Shards on disk',
    registers,
  });
  const items = new Counter({
    name: 'guardsweep_items_committed_total',
    help: 'Items on disk, by outcome: ok, or the code of an error',
    labelNames: ['outcome'],
    registers,
  });
  const finished = new Counter({ name: 'guardsweep_runs_finished_total', help: 'Runs finished', registers });
  const dropped = new Counter({
    name: 'guardsweep_results_dropped_total',
    help: 'Jobs that were not valid results of a run, by reason; their shards are judged again',
    labelNames: ['reason'],
    registers,
  });
  const fullDisks = new Set<string>();
  new Gauge({
    name: 'guardsweep_runs_disk_full',
    help: 'Runs that wait for room on their disk',
    registers,
    collect() {
      this.set(fullDisks.size);
    },
  });
  return {
    registry,
    fullDisks,
    observer: {
      held: (runs) => held.set(runs),
      finished: () => finished.inc(),
      dropped: (reason) => dropped.inc({ reason }),
      diskFull: (run, full) => {
        if (full) fullDisks.add(run);
        else fullDisks.delete(run);
      },
      committed: (result) => {
        shards.inc();
        for (const error of listErrors(result)) items.inc({ outcome: error?.code ?? 'ok' });
      },
    },
  };
}
