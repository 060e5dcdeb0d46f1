import { setImmediate } from 'node:timers/promises';
import { type RunRecord } from '../config/run-config.ts';
import { type Item } from '../domain/item.ts';
import { type Shard } from '../domain/shard.ts';
import { ShardCutter, type CutShard } from '../ingest/cut-shards.ts';
import { type PlanWriter } from '../ingest/plan-file.ts';
import { PlanFollower } from '../ingest/plan-follower.ts';
import { type FrozenSource, type PlanLine } from '../ingest/plan-line.ts';
import { readSource, sourceUnchanged } from '../ingest/read-source.ts';
import { type PlanSurvey } from '../ingest/survey-plan.ts';
import { type WorkQueue } from '../queue/work-queue.ts';
import { changedItem, changedItems } from './changed-items.ts';
import { type FeedProgress } from './progress.ts';
import { type RetrySelection } from './retry-selection.ts';

export interface FeedInput {
  readonly record: RunRecord;
  readonly sources: readonly FrozenSource[];
  readonly pass: number;
  /** What a retry pass judges; null for the first pass, which judges everything. */
  readonly selection: RetrySelection | null;
  /** What was planned before; the plan itself for planned shards that have to be fed again. */
  readonly survey: PlanSurvey;
  readonly planned: () => AsyncIterable<readonly PlanLine[]>;
  readonly plan: Pick<PlanWriter, 'append'>;
  readonly isCommitted: (shard: number) => boolean;
  readonly queue: Pick<WorkQueue<Shard>, 'add'>;
  readonly progress: FeedProgress;
  readonly signal: AbortSignal;
}

/**
 * Reads the sources in order, plans shards and feeds them: each is on disk in the plan before it is queued. After
 * an interruption the same walk feeds again what is planned and not committed, then plans on; sources that are
 * planned and committed whole are passed over unread. Resolves when the pass is closed in the plan.
 */
export async function feed(input: FeedInput): Promise<void> {
  await new Feeder(input).run();
}

class Feeder {
  readonly #input: FeedInput;
  /** Whether the plan holds a part of this pass already. */
  readonly #resuming: boolean;
  readonly #follower: PlanFollower | null;
  readonly #cutter: ShardCutter;
  readonly #itemsBySource: number[];
  #shards: number;

  constructor(input: FeedInput) {
    const { survey, pass } = input;
    this.#input = input;
    this.#resuming = survey.latestPass === pass && survey.shards > 0;
    this.#follower = this.#resuming
      ? new PlanFollower(input.planned(), { pass, isCommitted: input.isCommitted })
      : null;
    this.#cutter = new ShardCutter(input.record.config.limits, { firstShard: survey.nextShard, pass });
    this.#itemsBySource = new Array<number>(input.sources.length).fill(0);
    this.#shards = this.#resuming ? survey.shards : 0;
  }

  async run(): Promise<void> {
    const { sources, selection, progress, signal } = this.#input;
    try {
      if (selection === null) {
        let seq = 0;
        for (const source of sources) {
          signal.throwIfAborted();
          seq = await this.#feedWhole(source, seq);
          progress.sourceDone(source);
        }
      } else {
        let seq = 0;
        for (const source of sources) {
          signal.throwIfAborted();
          const next = seq + this.#itemsOfFirstPass(source);
          await this.#feedSelected(source, seq, selection.within(seq, next));
          progress.sourceDone(source);
          seq = next;
        }
      }
      await this.#plan(this.#cutter.end());
      await this.#close();
      progress.close();
    } finally {
      await this.#follower?.close();
    }
  }

  /** Feeds all items of a source, from `seq` on; gives the seq after them. */
  async #feedWhole(source: FrozenSource, seq: number): Promise<number> {
    const { survey, progress } = this.#input;
    const extent = survey.extent(source.source);
    const planned = this.#resuming && extent.lastSeq >= seq;
    const next = extent.lastSeq + 1;
    if (planned && extent.complete && !extent.open) {
      this.#itemsBySource[source.source] = next - seq;
      progress.planned(next - seq);
      return next;
    }
    if (!planned || (await sourceUnchanged(source))) return this.#read(source, seq);
    for (const items of changedItems(source, { from: seq, to: next })) await this.#take(items, source);
    if (extent.complete) return next;
    await this.#take([changedItem(source, next)], source);
    return next + 1;
  }

  /** Feeds the given seqs of a source whose first item is `seq`. */
  async #feedSelected(source: FrozenSource, seq: number, wanted: readonly number[]): Promise<void> {
    if (wanted.length === 0) return;
    if (await sourceUnchanged(source)) await this.#read(source, seq);
    else for (const items of changedItems(source, wanted)) await this.#take(items, source);
  }

  async #read(source: FrozenSource, firstSeq: number): Promise<number> {
    const { record, selection, progress, signal } = this.#input;
    const onBytes = (bytes: number): void => progress.sourceAt(bytes);
    const options = { itemBytes: record.config.limits.itemBytes, signal, onBytes };
    let seq = firstSeq;
    for await (const items of readSource(source, record.config.sources[source.corpus]!, seq, options)) {
      seq += items.length;
      await this.#take(selection === null ? items : items.filter((item) => selection.has(item.seq)), source);
      // Readers may serve from memory for long; judging and committing share this loop.
      await setImmediate();
      signal.throwIfAborted();
    }
    return seq;
  }

  /** Puts items into the shards they were planned in, or else into new ones. */
  async #take(items: readonly Item[], source: FrozenSource): Promise<void> {
    const { queue, progress, signal } = this.#input;
    const cut: CutShard[] = [];
    for (const item of items) {
      if (this.#follower?.done === false) {
        const placed = await this.#follower.place(item);
        if (placed !== 'unplanned') {
          if (placed !== null) await queue.add(placed, signal);
          continue;
        }
      }
      cut.push(...this.#cutter.add(item, source.source));
    }
    this.#itemsBySource[source.source]! += items.length;
    progress.planned(items.length);
    await this.#plan(cut);
  }

  async #plan(cut: readonly CutShard[]): Promise<void> {
    if (cut.length === 0) return;
    this.#shards += cut.length;
    await this.#input.plan.append(cut.map(({ line }) => line));
    for (const { shard } of cut) await this.#input.queue.add(shard, this.#input.signal);
  }

  async #close(): Promise<void> {
    const { survey, pass, plan } = this.#input;
    if (survey.closed.has(pass)) return;
    const items = this.#itemsBySource.reduce((sum, count) => sum + count, 0);
    await plan.append([
      { closed: true, pass, shards: this.#shards, items, items_by_source: this.#itemsBySource },
    ]);
  }

  #itemsOfFirstPass({ source }: FrozenSource): number {
    return this.#input.survey.closed.get(1)?.items_by_source[source] ?? 0;
  }
}
