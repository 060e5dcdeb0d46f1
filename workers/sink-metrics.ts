import type { Lane } from '../src/domain/item.ts';
import { isCategoryKey, OTHER_CATEGORIES } from '../src/domain/taxonomy.ts';
import type { SinkObserver } from '../src/fleet/sink/fleet-sink.ts';
import type { Backlog } from '../src/fleet/sink/run-backlog.ts';
import { Metrics } from '../src/metrics/metrics.ts';
import { type ShardTally, splitKey } from '../src/record/shard-tally.ts';

/** How long a scrape waits for the backlog of a run, whose log may have to be checked first, in milliseconds. */
const MEASURED_WITHIN_MS = 1000;

interface SinkMetrics {
  readonly metrics: Metrics;
  readonly observer: SinkObserver;
  /** Runs that wait for space on their disk. */
  readonly fullDisks: ReadonlySet<string>;
}

/** A sink's metrics: runs held and their backlog, shards and items committed, runs finished, full disks. */
export function sinkMetrics(): SinkMetrics {
  const metrics = new Metrics();
  const shards = metrics.counter('guardsweep_shards_committed_total');
  const countItems = itemCounter(metrics);
  const finished = metrics.counter('guardsweep_runs_finished_total');
  const dropped = metrics.counter('guardsweep_results_dropped_total');
  let held: Parameters<SinkObserver['held']>[0] = new Map();
  metrics.gauge('guardsweep_runs_held', (gauge) => gauge.set(held.size));
  metrics.gaugesBy({
    label: 'run',
    look: () => measureAll(held),
    values: {
      guardsweep_backlog_items: ({ items }) => items,
      guardsweep_oldest_shard_age_seconds: ({ oldestSeconds }) => oldestSeconds,
      guardsweep_commit_age_seconds: ({ commitSeconds }) => commitSeconds,
    },
  });
  const fullDisks = new Set<string>();
  metrics.gauge('guardsweep_runs_disk_full', (gauge) => gauge.set(fullDisks.size));
  return {
    metrics,
    fullDisks,
    observer: {
      held: (runs) => (held = runs),
      finished: () => finished.inc(),
      dropped: (reason) => dropped.inc({ reason }),
      diskFull: (run, full) => {
        if (full) fullDisks.add(run);
        else fullDisks.delete(run);
      },
      committed: (lane, tally) => {
        shards.inc();
        countItems(lane, tally);
      },
    },
  };
}

/** Counts the items of committed shards by the sums in their commit lines. */
function itemCounter(metrics: Metrics): (lane: Lane, tally: ShardTally) => void {
  const items = metrics.counter('guardsweep_items_committed_total');
  const flags = metrics.counter('guardsweep_flags_committed_total');
  const errors = metrics.counter('guardsweep_errors_committed_total');
  return (lane, { errors: failed, by }) => {
    for (const [decision, count] of Object.entries(by.decision ?? {})) items.inc({ lane, decision }, count);
    if (failed > 0) items.inc({ lane, decision: 'error' }, failed);
    for (const [code, count] of Object.entries(by.code ?? {})) errors.inc({ lane, code }, count);
    for (const [key, count] of Object.entries(by.category ?? {})) {
      const [decision, name] = splitKey(key);
      // A guard may use any number of other names.
      const category = isCategoryKey(name) ? name : OTHER_CATEGORIES;
      flags.inc({ lane, decision, category }, count);
    }
  };
}

async function measureAll(runs: Parameters<SinkObserver['held']>[0]): Promise<ReadonlyMap<string, Backlog>> {
  const late = new Promise<null>((resolve) => setTimeout(resolve, MEASURED_WITHIN_MS, null).unref());
  const measured = await Promise.all(
    [...runs].map(async ([name, run]) => [name, await Promise.race([run.backlog(), late])] as const),
  );
  return new Map(measured.flatMap(([name, backlog]) => (backlog === null ? [] : [[name, backlog]])));
}
