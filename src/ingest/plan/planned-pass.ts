import { itemError } from '../../domain/item-error.ts';
import type { FailedItem, Item, Lane } from '../../domain/item.ts';
import { payloadSha256 } from '../../domain/shard.ts';
import type { CutShard } from './cut-shards.ts';
import type { PlanClosed, PlanLine, PlannedShard, RecordsBefore } from './plan-line.ts';
import { isClosing } from './plan-state.ts';

/** Min number of added ranges before they are merged; it must also exceed the number left by the last merge. */
const MERGE_AT = 4096;

/** A planned shard that is not committed, and the items it has received so far. */
interface OpenShard {
  readonly line: PlannedShard;
  readonly items: Item[];
}

/** Planned seqs, inclusive; `shard` is null if they are committed. */
interface SeqRange {
  readonly first: number;
  last: number;
  readonly shard: OpenShard | null;
}

/** The planned items of one source. */
interface PlannedSource {
  /** The seq after its last planned item. */
  readonly next: number;
  /** Whether every item of the source is planned. */
  readonly complete: boolean;
  /** Whether every planned item is committed. */
  readonly committed: boolean;
  /** Whether it has one planned item, which is the whole file. */
  readonly wholeFile: boolean;
}

interface PlannedPassOptions {
  readonly pass: number;
  /** Number of sources. */
  readonly sources: number;
  readonly isCommitted: (shard: number) => boolean;
}

/**
 * The part of a pass that is already planned, so an interrupted feeder can continue where it stopped. Reread items go
 * into the shards they were planned in.
 *
 * Memory: a few bytes per source, and the lines of uncommitted shards. Committed seqs merge into few ranges, because
 * the cutter bounds how far a lane lags behind the others.
 */
export class PlannedPass {
  /** Shards planned up to the end of this pass; also the number of the next one. */
  nextShard = 0;
  /** Shards planned in this pass. */
  shards = 0;
  /** Closing lines up to this pass. */
  readonly closed = new Map<number, PlanClosed>();
  /** In a trial: records before the source that was read last; null if nothing is planned. */
  records: RecordsBefore | null = null;
  /** Highest planned seq per lane. */
  readonly lastSeqs = new Map<Lane, number>();
  /** Uncommitted shards that do not have all their items yet. */
  unfilled = 0;
  readonly #options: PlannedPassOptions;
  /** Highest planned seq by source; -1 if nothing is planned. */
  readonly #lastSeq: Float64Array;
  readonly #hasOpenShard: Uint8Array;
  readonly #isWholeFile: Uint8Array;
  #lastSource = -1;
  #ranges: SeqRange[] = [];
  #mergeAt = MERGE_AT;
  /** Index of the first range that does not end below the seqs placed so far. */
  #at = 0;

  private constructor(options: PlannedPassOptions) {
    this.#options = options;
    this.#lastSeq = new Float64Array(options.sources).fill(-1);
    this.#hasOpenShard = new Uint8Array(options.sources);
    this.#isWholeFile = new Uint8Array(options.sources);
  }

  /** Reads a plan up to the end of a pass. */
  static async read(
    plan: AsyncIterable<readonly PlanLine[]>,
    options: PlannedPassOptions,
  ): Promise<PlannedPass> {
    const planned = new PlannedPass(options);
    for await (const lines of plan) for (const line of lines) planned.#take(line);
    planned.#merge();
    return planned;
  }

  /**
   * Places the next item, in ascending seq. Returns `unplanned` if no planned shard contains it, the shard and its line
   * if it completes an uncommitted one, and null otherwise.
   */
  place(item: Item): CutShard | 'unplanned' | null {
    while (this.#at < this.#ranges.length && this.#ranges[this.#at]!.last < item.seq) this.#at++;
    const range = this.#ranges[this.#at];
    if (range === undefined || item.seq < range.first) return 'unplanned';
    if (range.shard === null) return null;
    const { items, line } = range.shard;
    items.push(item);
    if (items.length < line.items) return null;
    this.unfilled--;
    // Empties the array, which the ranges still refer to.
    return filledShard(line, items.splice(0));
  }

  /** The planned items of a source whose first item has, or would have, `seq`; null if more may be in the file. */
  ofSource(source: number, seq: number): PlannedSource | null {
    const closing = this.closed.get(this.#options.pass);
    const last = this.#lastSeq[source] ?? -1;
    if (last >= seq) {
      return {
        next: last + 1,
        complete: closing !== undefined || source < this.#lastSource,
        committed: this.#hasOpenShard[source] === 0,
        wholeFile: this.#isWholeFile[source] === 1,
      };
    }
    const items = closing === undefined ? this.#unplannedItems(source, seq) : 0;
    if (items === null) return null;
    return { next: seq + items, complete: true, committed: items === 0, wholeFile: items === 1 };
  }

  /**
   * Number of items of a source that has nothing planned although a later source has; null if no later source has
   * anything planned. All shards of a table are planned before later sources, so this is 0, or 1 for a whole file whose
   * shard was still open.
   */
  #unplannedItems(source: number, seq: number): number | null {
    if (source >= this.#lastSource) return null;
    let next = source + 1;
    while (this.#lastSeq[next] === -1) next++;
    // If the source and those up to the next have one item each, seqs are as far apart as sources.
    const hasItem = this.#isWholeFile[next] === 1 && next - source <= this.#lastSeq[next]! - seq;
    return hasItem ? 1 : 0;
  }

  #take(line: PlanLine): void {
    const { pass, isCommitted } = this.#options;
    if (line.pass > pass) return;
    if (isClosing(line)) {
      this.closed.set(line.pass, line);
      return;
    }
    this.nextShard = line.shard + 1;
    if (line.pass !== pass) return;
    this.records = line.records ?? this.records;
    this.shards++;
    this.#lastSource = Math.max(this.#lastSource, line.to_source);
    this.lastSeqs.set(line.lane, line.seqs.at(-1)![1]);
    const shard = isCommitted(line.shard) ? null : { line, items: [] };
    if (shard !== null) this.unfilled++;
    for (const { source, last } of sourcesOf(line)) {
      const alone = line.items === 1 || line.source !== line.to_source;
      this.#isWholeFile[source] = this.#lastSeq[source] === -1 && line.from === null && alone ? 1 : 0;
      this.#lastSeq[source] = Math.max(this.#lastSeq[source]!, last);
      if (shard !== null) this.#hasOpenShard[source] = 1;
    }
    for (const [first, last] of line.seqs) this.#ranges.push({ first, last, shard });
    if (this.#ranges.length >= this.#mergeAt) this.#merge();
  }

  /** Sorts the ranges, and joins adjacent ones of the same shard, or that are committed. */
  #merge(): void {
    const merged: SeqRange[] = [];
    for (const range of this.#ranges.sort((a, b) => a.first - b.first)) {
      const before = merged.at(-1);
      if (before?.last === range.first - 1 && before.shard === range.shard) before.last = range.last;
      else merged.push(range);
    }
    this.#ranges = merged;
    this.#mergeAt = 2 * merged.length + MERGE_AT;
  }
}

/**
 * The sources of a planned shard, with the last seq of each. A shard holds either rows of one source, or whole files,
 * one item per source; the distance between seqs is then the distance between sources.
 */
function* sourcesOf(line: PlannedShard): Generator<{ source: number; last: number }> {
  if (line.source === line.to_source) {
    yield { source: line.source, last: line.seqs.at(-1)![1] };
    return;
  }
  const first = line.seqs[0]![0];
  for (const [from, to] of line.seqs) {
    for (let seq = from; seq <= to; seq++) yield { source: line.source + (seq - first), last: seq };
  }
}

function filledShard(line: PlannedShard, items: readonly Item[]): CutShard {
  const changed = items.some((item) => item.settled?.error?.code === 'SOURCE_CHANGED');
  const asPlanned = changed || payloadSha256(items) === line.payload_sha256;
  const { shard, pass, lane } = line;
  return { shard: { shard, pass, lane, items: asPlanned ? items : items.map(changedItem) }, line };
}

/** The item of a file that has its old size and times but different content: what was planned cannot be judged. */
function changedItem(item: Item): FailedItem {
  return {
    seq: item.seq,
    id: item.id,
    source: item.source,
    roles: null,
    part: item.part,
    turn: item.turn,
    request: null,
    modality: item.request?.modality ?? null,
    requestType: item.request?.requestType ?? null,
    contentSha256: null,
    settled: {
      judgement: null,
      error: itemError('SOURCE_CHANGED', 'the content differs from what was planned'),
    },
  };
}
