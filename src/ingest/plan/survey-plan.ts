import type { Lane } from '../../domain/item.ts';
import type { PlanClosed, PlanLine, PlannedShard, RecordsBefore } from './plan-line.ts';

/** What a plan already contains, so that an interrupted feeder can continue where it stopped. */
export interface PlanSurvey {
  /** The latest pass in the plan; 0 for an empty plan. */
  readonly latestPass: number;
  /** Closing lines by pass, from pass 1. */
  readonly closed: ReadonlyMap<number, PlanClosed>;
  /** Number of shards planned over all passes; also the number of the next one. */
  readonly nextShard: number;
  /** Shards and items planned in the latest pass. */
  readonly shards: number;
  readonly items: number;
  /** Passes with a planned shard that is not committed. */
  readonly open: ReadonlySet<number>;
  /** In a trial: records before the source that was read last; null if nothing is planned. */
  readonly records: RecordsBefore | null;
  /** Highest seq planned in the latest pass, per lane. */
  readonly lastSeqs: ReadonlyMap<Lane, number>;
  /** What is planned of one source in the latest pass. */
  extent(source: number): SourceExtent;
  /**
   * Number of items of a source that has nothing planned although a later source has; `seq` is the one its first item
   * would have. Null if no later source has anything planned. The rows of a table are planned before later sources, so
   * this is 0, or 1 for a whole file whose shard was still open.
   */
  unplannedItems(source: number, seq: number): number | null;
}

interface SourceExtent {
  /** Highest planned seq; -1 if there is none. */
  readonly lastSeq: number;
  /** Whether every item of the source is planned. */
  readonly complete: boolean;
  /** Whether any of its shards is uncommitted. */
  readonly open: boolean;
  /** Whether exactly one item is planned and it is the whole file. */
  readonly wholeFile: boolean;
}

/** Reads a plan once. Memory: a few bytes per source, nothing per shard. */
export async function surveyPlan(
  lines: AsyncIterable<readonly PlanLine[]>,
  sources: number,
  isCommitted: (shard: number) => boolean,
): Promise<PlanSurvey> {
  const closed = new Map<number, PlanClosed>();
  const lastSeq = new Float64Array(sources).fill(-1);
  const openPasses = new Set<number>();
  const open = new Uint8Array(sources);
  const wholeFile = new Uint8Array(sources);
  const lastSeqs = new Map<Lane, number>();
  let latestPass = 0;
  let records: RecordsBefore | null = null;
  let lastSource = -1;
  let nextShard = 0;
  let shards = 0;
  let items = 0;
  for await (const batch of lines) {
    for (const line of batch) {
      if (line.pass > latestPass) {
        latestPass = line.pass;
        lastSource = -1;
        shards = 0;
        items = 0;
        lastSeq.fill(-1);
        open.fill(0);
        wholeFile.fill(0);
        lastSeqs.clear();
      }
      if ('closed' in line) {
        closed.set(line.pass, line);
        continue;
      }
      nextShard = line.shard + 1;
      shards++;
      items += line.items;
      records = line.records ?? records;
      lastSource = Math.max(lastSource, line.to_source);
      lastSeqs.set(line.lane, line.seqs.at(-1)?.[1] ?? -1);
      const committed = isCommitted(line.shard);
      if (!committed) openPasses.add(line.pass);
      for (const { source, last } of sourcesOf(line)) {
        const alone = line.items === 1 || line.source !== line.to_source;
        wholeFile[source] = lastSeq[source] === -1 && line.from === null && alone ? 1 : 0;
        lastSeq[source] = Math.max(lastSeq[source] ?? -1, last);
        if (!committed) open[source] = 1;
      }
    }
  }
  const nextPlanned = nextOf(lastSeq);
  const closing = closed.get(latestPass);
  return {
    latestPass,
    closed,
    nextShard,
    shards,
    items,
    open: openPasses,
    records,
    lastSeqs,
    extent: (source) => {
      const last = lastSeq[source] ?? -1;
      return {
        lastSeq: last,
        complete: last >= 0 && (closing !== undefined || source < lastSource),
        open: open[source] === 1,
        wholeFile: wholeFile[source] === 1,
      };
    },
    unplannedItems: (source, seq) => {
      if (closing !== undefined) return closing.items_by_source[source] ?? 0;
      const next = nextPlanned[source] ?? -1;
      if (next === -1) return null;
      // If the source and those up to the next have one item each, seqs are as far apart as sources.
      const hasItem = wholeFile[next] === 1 && next - source <= lastSeq[next]! - seq;
      return hasItem ? 1 : 0;
    },
  };
}

/** For each source, the next source that has something planned; -1 if there is none. */
function nextOf(lastSeq: Float64Array): Int32Array {
  const next = new Int32Array(lastSeq.length).fill(-1);
  for (let source = lastSeq.length - 2; source >= 0; source--) {
    next[source] = lastSeq[source + 1] === -1 ? next[source + 1]! : source + 1;
  }
  return next;
}

/**
 * The sources of a planned shard, with the last seq of each. A shard holds either rows of one source, or whole files,
 * one item per source: then the distance between seqs is the distance between sources.
 */
function* sourcesOf(line: PlannedShard): Generator<{ source: number; last: number }> {
  const first = line.seqs[0]?.[0] ?? 0;
  if (line.source === line.to_source) {
    yield { source: line.source, last: line.seqs.at(-1)?.[1] ?? first };
    return;
  }
  for (const [from, to] of line.seqs) {
    for (let seq = from; seq <= to; seq++) yield { source: line.source + (seq - first), last: seq };
  }
}
