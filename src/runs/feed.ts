import { setImmediate } from 'node:timers/promises';
import type { RunRecord } from '../config/run-config.ts';
import type { Item } from '../domain/item.ts';
import { itemsSha256 } from '../domain/items-hash.ts';
import type { Shard } from '../domain/shard.ts';
import { ShardCutter, type CutShard } from '../ingest/plan/cut-shards.ts';
import type { PlanWriter } from '../ingest/plan/plan-file.ts';
import { FrozenSources } from '../ingest/sources/frozen-sources.ts';
import { PlanFollower } from '../ingest/plan/plan-follower.ts';
import type { FrozenSource, PlanLine } from '../ingest/plan/plan-line.ts';
import { readSource } from '../ingest/items/read-source.ts';
import type { PlanSurvey } from '../ingest/plan/survey-plan.ts';
import type { WorkQueue } from '../queue/work-queue.ts';
import { changedItems } from './changed-items.ts';
import type { FeedProgress } from './progress.ts';
import type { RetrySelection } from './retry-selection.ts';

export interface FeedInput {
  readonly record: RunRecord;
  readonly sources: readonly FrozenSource[];
  readonly pass: number;
  /** What a retry pass judges; null for the first pass, which judges everything. */
  readonly selection: RetrySelection | null;
  /** What was planned before; the plan itself for planned shards that have to be fed again. */
  readonly survey: PlanSurvey;
  readonly planned: () => AsyncIterable<readonly PlanLine[]>;
  readonly plan: Pick<PlanWriter, 'append' | 'change'>;
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
  readonly #frozen: FrozenSources;
  /** Whether the plan holds a part of this pass already. */
  readonly #resuming: boolean;
  readonly #follower: PlanFollower | null;
  readonly #cutter: ShardCutter;
  readonly #itemsBySource: number[];
  #shards: number;

  constructor(input: FeedInput) {
    const { survey, pass } = input;
    this.#input = input;
    this.#frozen = new FrozenSources(input.sources, input.record.config.sources);
    this.#resuming = survey.latestPass === pass && survey.shards > 0;
    this.#follower = this.#resuming
      ? new PlanFollower(input.planned(), { pass, isCommitted: input.isCommitted })
      : null;
    this.#cutter = new ShardCutter(input.record.config.limits, {
      firstShard: survey.nextShard,
      pass,
      planned: this.#resuming ? survey.lastSeqs : new Map(),
    });
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
          await this.#feedSelected(source, seq, next, selection.within(seq, next));
          progress.sourceDone(source);
          seq = next;
        }
      }
      await this.#plan(this.#cutter.end());
      if (this.#follower !== null && this.#follower.unfilled > 0) {
        throw new Error('a planned shard was not filled although its sources were read to their ends');
      }
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
    const unplanned = this.#resuming && !planned ? survey.unplannedItems(source.source, seq) : null;
    const next = unplanned === null ? extent.lastSeq + 1 : seq + unplanned;
    if (unplanned === 0) return seq;
    if (planned && extent.complete && !extent.open) {
      this.#itemsBySource[source.source] = next - seq;
      progress.planned(next - seq);
      return next;
    }
    if (!planned && unplanned === null) return this.#read(source, seq, null);
    let end = seq;
    if (unplanned !== null) end = await this.#read(source, seq, next);
    else if (await this.#frozen.unchanged(source, extent.wholeFile))
      end = await this.#read(source, seq, extent.complete ? next : null);
    else if (!extent.complete && !extent.wholeFile) {
      await this.#lose(source, { from: seq, to: next + 1 });
      return next + 1;
    }
    // The plan says which items there are, whatever the file gives now.
    await this.#lose(source, { from: end, to: next });
    return Math.max(end, next);
  }

  /** Feeds the given seqs of a source whose items are those from `seq` up to `next`. */
  async #feedSelected(
    source: FrozenSource,
    seq: number,
    next: number,
    wanted: readonly number[],
  ): Promise<void> {
    if (wanted.length === 0) return;
    const end = (await this.#frozen.unchanged(source, next - seq === 1))
      ? await this.#read(source, seq, next)
      : seq;
    await this.#lose(
      source,
      wanted.filter((at) => at >= end),
    );
  }

  /** Feeds what a source gives, but nothing from the seq `limit` on; gives the seq after the last item. */
  async #read(source: FrozenSource, firstSeq: number, limit: number | null): Promise<number> {
    const { record, selection, progress, signal } = this.#input;
    const onBytes = (bytes: number): void => progress.sourceAt(bytes);
    const { itemBytes, mediaBytes } = record.config.limits;
    const options = { frozen: this.#frozen, itemBytes, mediaBytes, signal, onBytes };
    const wanted = ({ seq }: Item): boolean =>
      (limit === null || seq < limit) && (selection === null || selection.has(seq));
    let seq = firstSeq;
    for await (const items of readSource(source, record.config.sources[source.corpus]!, seq, options)) {
      seq += items.length;
      await this.#take(items.filter(wanted), source);
      // Readers may serve from memory for long; judging and committing share this loop.
      await setImmediate();
      signal.throwIfAborted();
    }
    return limit === null ? seq : Math.min(seq, limit);
  }

  /** Ends items whose content cannot be read any more. */
  async #lose(source: FrozenSource, seqs: Parameters<typeof changedItems>[1]): Promise<void> {
    for (const items of changedItems(source, seqs)) await this.#take(items, source);
  }

  /** Puts items into the shards they were planned in, or else into new ones. */
  async #take(items: readonly Item[], source: FrozenSource): Promise<void> {
    const { progress } = this.#input;
    const cut: CutShard[] = [];
    for (const item of items) {
      if (this.#follower?.done === false) {
        const placed = await this.#follower.place(item);
        if (placed !== 'unplanned') {
          if (placed !== null) await this.#feedAgain(placed);
          continue;
        }
      }
      cut.push(...this.#cutter.add(item, source.source));
    }
    this.#itemsBySource[source.source]! += items.length;
    progress.planned(items.length);
    await this.#plan(cut);
  }

  /** What is fed is what the plan says, also where the source is not what it was: outcomes are held to it. */
  async #feedAgain({ shard, line }: CutShard): Promise<void> {
    const { plan, queue, signal } = this.#input;
    const items = itemsSha256(shard.items);
    if (items !== line.items_sha256) await plan.change({ changed: shard.shard, items_sha256: items });
    await queue.add(shard, signal);
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
