import { setImmediate } from 'node:timers/promises';
import type { RunRecord } from '../config/run-config.ts';
import type { Item } from '../domain/item.ts';
import { itemsSha256 } from '../domain/items-hash.ts';
import type { Shard } from '../domain/shard.ts';
import { ShardCutter, type CutShard } from '../ingest/plan/cut-shards.ts';
import type { PlanWriter } from '../ingest/plan/plan-file.ts';
import { SourceSnapshots } from '../ingest/sources/source-snapshots.ts';
import type { RecordsBefore } from '../ingest/plan/plan-line.ts';
import { configOf, type SourceSnapshot } from '../ingest/sources/sources-file.ts';
import { RecordSelection } from '../ingest/items/record-selection.ts';
import { readSource, type ReadOptions } from '../ingest/items/read-source.ts';
import type { PlannedPass } from '../ingest/plan/planned-pass.ts';
import { changedItems } from './changed-items.ts';
import type { PlanProgress } from './progress.ts';
import type { RetrySelection } from './retry-selection.ts';

export interface PassPlan {
  readonly record: RunRecord;
  readonly sources: readonly SourceSnapshot[];
  readonly pass: number;
  /** The items of a retry pass; null for the first pass, which judges everything. */
  readonly selection: RetrySelection | null;
  /** The part of the pass that is already planned. */
  readonly planned: PlannedPass;
  readonly plan: Pick<PlanWriter, 'append' | 'change'>;
  readonly isCommitted: (shard: number) => boolean;
  /** Takes a shard whose line is on disk; waits while the maximum number of shards is in progress. */
  readonly submit: (shard: Shard, signal: AbortSignal) => Promise<void>;
  readonly progress: PlanProgress;
  /** Media files that need not be read again; if undefined, all are read. */
  readonly readBefore?: ReadOptions['readBefore'];
  readonly signal: AbortSignal;
}

/**
 * Reads the sources in order, plans shards and submits them: each is on disk in the plan before it is submitted. After
 * an interruption, the same walk resubmits planned shards that are not committed, then continues planning; sources that
 * are completely planned and committed are skipped unread. Resolves when the pass is closed in the plan.
 */
export async function planPass(input: PassPlan): Promise<void> {
  await new PassPlanner(input).run();
}

/** Maximum time to read before yielding to the event loop, in milliseconds. */
const TURN_MS = 2;

class PassPlanner {
  readonly #input: PassPlan;
  readonly #snapshots: SourceSnapshots;
  readonly #cutter: ShardCutter;
  readonly #itemsBySource: number[];
  /** Records that a trial judges; undefined to judge everything. A retry pass rereads what the first pass selected. */
  readonly #records: RecordSelection | undefined;
  /** In a trial: the source that is being read, and the counts before it. */
  #before: RecordsBefore | undefined;
  #shards: number;
  /** Time of the last yield to the event loop. */
  #yieldedMs = performance.now();

  constructor(input: PassPlan) {
    const { planned, pass } = input;
    this.#input = input;
    this.#snapshots = new SourceSnapshots(input.sources, input.record.config.sources);
    this.#cutter = new ShardCutter(input.record.config.limits, {
      firstShard: planned.nextShard,
      pass,
      planned: planned.lastSeqs,
    });
    this.#itemsBySource = new Array<number>(input.sources.length).fill(0);
    const { trial = null } = input.record.config;
    this.#records = trial === null ? undefined : new RecordSelection(trial);
    this.#shards = planned.shards;
  }

  async run(): Promise<void> {
    const { sources, selection, planned, progress, signal } = this.#input;
    if (selection === null) {
      let seq = 0;
      for (const source of sources) {
        signal.throwIfAborted();
        if (this.#isOver(source)) break;
        this.#enter(source);
        seq = await this.#planWhole(source, seq);
        progress.sourceDone(source);
      }
    } else {
      let seq = 0;
      for (const source of sources) {
        signal.throwIfAborted();
        this.#enter(source);
        const next = seq + this.#itemsOfFirstPass(source);
        await this.#planSelected(source, seq, next, selection.within(seq, next));
        progress.sourceDone(source);
        seq = next;
      }
    }
    await this.#planNew(this.#cutter.end());
    if (planned.unfilled > 0) {
      throw new Error('a planned shard was not filled although its sources were read to their ends');
    }
    await this.#close();
    progress.close();
  }

  /** Submits all items of a source, from `seq` on; returns the seq after them. */
  async #planWhole(source: SourceSnapshot, seq: number): Promise<number> {
    const { planned, progress } = this.#input;
    const known = planned.ofSource(source.source, seq);
    if (known === null) return this.#read(source, seq, null);
    const { next, complete, committed, wholeFile } = known;
    if (complete && committed) {
      this.#itemsBySource[source.source] = next - seq;
      progress.planned(next - seq);
      return next;
    }
    let end = seq;
    if (await this.#snapshots.unchanged(source, wholeFile, this.#input.signal)) {
      end = await this.#read(source, seq, complete ? next : null);
    } else if (!complete && !wholeFile) {
      // The unplanned rest of the file is one item.
      await this.#lose(source, { from: seq, to: next + 1 });
      return next + 1;
    }
    // The plan determines which items exist, whatever the file contains now.
    await this.#lose(source, { from: end, to: next });
    return Math.max(end, next);
  }

  /** Submits the wanted seqs of a source whose items run from `seq` up to, not including, `next`. */
  async #planSelected(
    source: SourceSnapshot,
    seq: number,
    next: number,
    wanted: readonly number[],
  ): Promise<void> {
    if (wanted.length === 0) return;
    const end = (await this.#snapshots.unchanged(source, next - seq === 1, this.#input.signal))
      ? await this.#read(source, seq, next)
      : seq;
    await this.#lose(
      source,
      wanted.filter((at) => at >= end),
    );
  }

  /** Submits the items of a source with seqs below `limit`; returns the seq after the last item. */
  async #read(source: SourceSnapshot, firstSeq: number, limit: number | null): Promise<number> {
    const { record, selection, progress, readBefore, signal } = this.#input;
    const onBytes = (bytes: number): void => progress.sourceAt(bytes);
    const { itemBytes, mediaBytes, unpack } = record.config.limits;
    const options = {
      snapshots: this.#snapshots,
      itemBytes,
      mediaBytes,
      unpack,
      selection: this.#records,
      readBefore,
      signal,
      onBytes,
    };
    const wanted = ({ seq }: Item): boolean =>
      (limit === null || seq < limit) && (selection === null || selection.has(seq));
    let seq = firstSeq;
    const config = configOf(source, record.config.sources);
    for await (const items of readSource(source, config, seq, options)) {
      seq += items.length;
      await this.#place(items.filter(wanted), source);
      // Readers can run from memory for a long time; judging and committing share this event loop.
      if (performance.now() - this.#yieldedMs > TURN_MS) {
        await setImmediate();
        this.#yieldedMs = performance.now();
      }
      signal.throwIfAborted();
    }
    return limit === null ? seq : Math.min(seq, limit);
  }

  /** Resolves items whose content can no longer be read. */
  async #lose(source: SourceSnapshot, seqs: Parameters<typeof changedItems>[1]): Promise<void> {
    for (const items of changedItems(source, seqs)) {
      this.#records?.addUnreadable(items.length);
      await this.#place(items, source);
    }
  }

  /**
   * Whether a trial had all its records before a source. It had not if an earlier process reached the source: see the
   * last one noted.
   */
  #isOver({ source }: SourceSnapshot): boolean {
    const noted = this.#input.planned.records?.source ?? -1;
    return this.#records?.isOver === true && source > noted;
  }

  /**
   * Starts counting the records of a source, from the counts noted by an earlier process. Earlier sources are reread
   * only for their planned items, and so are all sources in a retry pass: their records are counted already.
   */
  #enter({ source }: SourceSnapshot): void {
    if (this.#records === undefined) return;
    const { selection, planned } = this.#input;
    const noted = planned.records;
    if (selection !== null || source < (noted?.source ?? 0)) this.#records.restore({ read: 0, selected: 0 });
    else if (source === noted?.source) this.#records.restore(noted);
    this.#before = { source, ...this.#records.counts };
  }

  /** Puts items into the shards they were planned in, or otherwise into new ones, and submits the full shards. */
  async #place(items: readonly Item[], source: SourceSnapshot): Promise<void> {
    const { planned, progress } = this.#input;
    const cut: CutShard[] = [];
    for (const item of items) {
      const placed = planned.place(item);
      if (placed === 'unplanned') cut.push(...this.#cutter.add(item, source.source));
      else if (placed !== null) await this.#resubmit(placed);
    }
    this.#itemsBySource[source.source]! += items.length;
    progress.planned(items.length);
    await this.#planNew(cut);
  }

  /**
   * Resubmits a planned shard. Outcomes are checked against the plan's hash of the items, so if the source has changed,
   * the plan notes the new hash first.
   */
  async #resubmit({ shard, line }: CutShard): Promise<void> {
    const { plan, submit, signal } = this.#input;
    const items = itemsSha256(shard.items);
    if (items !== line.items_sha256) await plan.change({ changed: shard.shard, items_sha256: items });
    await submit(shard, signal);
  }

  async #planNew(cut: readonly CutShard[]): Promise<void> {
    if (cut.length === 0) return;
    const { plan, submit, signal } = this.#input;
    this.#shards += cut.length;
    const records = this.#input.selection === null ? this.#before : undefined;
    await plan.append(cut.map(({ line }) => (records === undefined ? line : { ...line, records })));
    for (const { shard } of cut) await submit(shard, signal);
  }

  async #close(): Promise<void> {
    const { planned, pass, plan } = this.#input;
    if (planned.closed.has(pass)) return;
    const items = this.#itemsBySource.reduce((sum, count) => sum + count, 0);
    const closing = {
      closed: true,
      pass,
      shards: this.#shards,
      items,
      items_by_source: this.#itemsBySource,
    } as const;
    const isFirstOfTrial = this.#records !== undefined && this.#input.selection === null;
    await plan.append([isFirstOfTrial ? { ...closing, records: this.#records.counts } : closing]);
  }

  #itemsOfFirstPass({ source }: SourceSnapshot): number {
    return this.#input.planned.closed.get(1)?.items_by_source[source] ?? 0;
  }
}
