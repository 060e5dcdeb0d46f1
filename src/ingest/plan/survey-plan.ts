import type { Lane } from '../../domain/item.ts';
import type { PlanClosed, PlanLine, PlannedShard } from './plan-line.ts';

/** What a plan already says about one pass, so that an interrupted feeder can go on where it stopped. */
export interface PlanSurvey {
  /** The latest pass the plan mentions; 0 for an empty plan. */
  readonly latestPass: number;
  /** Closing lines by pass, from pass 1. */
  readonly closed: ReadonlyMap<number, PlanClosed>;
  /** Number of shards planned over all passes, which is the number of the next one. */
  readonly nextShard: number;
  /** Shards and items planned in the latest pass. */
  readonly shards: number;
  readonly items: number;
  /** Passes with a planned shard that is not committed. */
  readonly open: ReadonlySet<number>;
  /** Highest seq that the latest pass has planned of each lane. */
  readonly lastSeqs: ReadonlyMap<Lane, number>;
  /** What the latest pass has planned of one source. */
  extent(source: number): SourceExtent;
  /**
   * How many items a source has of which nothing is planned although something behind it is; `seq` is the one its first
   * item would have. Null when nothing behind it is planned. The rows of a table are planned before anything behind
   * them, so it is 0, or the 1 of a whole file whose shard was still open.
   */
  unplannedItems(source: number, seq: number): number | null;
}

interface SourceExtent {
  /** Highest seq planned; -1 when none is. */
  readonly lastSeq: number;
  /** Whether every item of the source is planned. */
  readonly complete: boolean;
  /** Whether one of its shards is not committed. */
  readonly open: boolean;
  /** Whether what is planned is a single item that is the whole file. */
  readonly wholeFile: boolean;
}

/** Reads a plan once. Memory: some bytes per source, nothing per shard. */
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
  const isClosed = closed.get(latestPass);
  return {
    latestPass,
    closed,
    nextShard,
    shards,
    items,
    open: openPasses,
    lastSeqs,
    extent: (source) => {
      const last = lastSeq[source] ?? -1;
      return {
        lastSeq: last,
        complete: last >= 0 && (isClosed !== undefined || source < lastSource),
        open: open[source] === 1,
        wholeFile: wholeFile[source] === 1,
      };
    },
    unplannedItems: (source, seq) => {
      if (isClosed !== undefined) return isClosed.items_by_source[source] ?? 0;
      const next = nextPlanned[source] ?? -1;
      if (next === -1) return null;
      // Whole files are in line when each has one item: then seqs are as far apart as their sources.
      const inLine = wholeFile[next] === 1 && next - source <= lastSeq[next]! - seq;
      return inLine ? 1 : 0;
    },
  };
}

/** By source, the first behind it of which something is planned; -1 where there is none. */
function nextOf(lastSeq: Float64Array): Int32Array {
  const next = new Int32Array(lastSeq.length).fill(-1);
  for (let source = lastSeq.length - 2; source >= 0; source--) {
    next[source] = lastSeq[source + 1] === -1 ? next[source + 1]! : source + 1;
  }
  return next;
}

/**
 * The sources a planned shard draws on, with the last seq of each. A shard holds rows of one source, or else whole
 * files, one item each: then the distance between seqs is the distance between sources.
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
