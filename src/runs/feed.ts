import { setImmediate } from 'node:timers/promises';
import { type RunRecord } from '../config/run-config.ts';
import { itemError } from '../domain/item-error.ts';
import { type Item, type SettledItem } from '../domain/item.ts';
import { type Shard } from '../domain/shard.ts';
import { ShardCutter, type CutShard } from '../ingest/cut-shards.ts';
import { type PlanWriter } from '../ingest/plan-file.ts';
import { PlanFollower } from '../ingest/plan-follower.ts';
import { type FrozenSource, type PlanLine } from '../ingest/plan-line.ts';
import { readSource, sourceUnchanged } from '../ingest/read-source.ts';
import { type PlanSurvey } from '../ingest/survey-plan.ts';
import { type WorkQueue } from '../queue/work-queue.ts';
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
  readonly queue: WorkQueue<Shard>;
  readonly progress: FeedProgress;
  readonly signal: AbortSignal;
}

/**
 * Reads the sources in order, plans shards and feeds them: each is on disk in the plan before it is queued. After
 * an interruption the same walk feeds again what is planned and not committed, then plans on; sources that are
 * planned and committed whole are passed over unread.
 */
export async function feed(input: FeedInput): Promise<void> {
  const { survey, progress, signal, sources } = input;
  const resuming = survey.latestPass === input.pass && survey.shards > 0;
  const follower = resuming
    ? new PlanFollower(input.planned(), { pass: input.pass, isCommitted: input.isCommitted })
    : null;
  const cutter = new ShardCutter(input.record.config.limits, {
    firstShard: survey.nextShard,
    pass: input.pass,
  });
  const itemsBySource = new Array<number>(sources.length).fill(0);
  const starts = startsOf(survey, sources.length);
  let shards = resuming ? survey.shards : 0;

  const plan = async (cut: readonly CutShard[]): Promise<void> => {
    if (cut.length === 0) return;
    shards += cut.length;
    await input.plan.append(cut.map(({ line }) => line));
    for (const { shard } of cut) await input.queue.add(shard, signal);
  };
  const take = async (items: readonly Item[], source: number): Promise<void> => {
    const cut: CutShard[] = [];
    for (const item of items) {
      if (input.selection !== null && !input.selection.has(item.seq)) continue;
      itemsBySource[source]!++;
      if (follower !== null && !follower.done) {
        const placed = await follower.place(item);
        if (placed !== 'unplanned') {
          if (placed !== null) await input.queue.add(placed, signal);
          continue;
        }
      }
      cut.push(...cutter.add(item, source));
    }
    progress.planned(items.length);
    await plan(cut);
  };

  try {
    let seq = 0;
    for (const source of sources) {
      signal.throwIfAborted();
      const index = source.source;
      const extent = survey.extent(index);
      if (starts !== null) seq = starts[index]!;
      if (input.selection !== null && input.selection.within(seq, starts![index + 1]!).length === 0) {
        progress.sourceDone(source);
        continue;
      }
      if (resuming && input.selection === null && extent.complete && !extent.open) {
        itemsBySource[index] = extent.lastSeq + 1 - seq;
        progress.planned(itemsBySource[index]);
        progress.sourceDone(source);
        seq = extent.lastSeq + 1;
        continue;
      }
      const plannedSeqs =
        input.selection?.within(seq, starts![index + 1]!) ??
        (resuming && extent.lastSeq >= seq ? { from: seq, to: extent.lastSeq + 1 } : null);
      if (plannedSeqs !== null && !(await sourceUnchanged(source))) {
        for (const seqs of batches(plannedSeqs))
          await take(
            seqs.map((at) => changedItem(source, at)),
            index,
          );
        seq = Math.max(seq, extent.lastSeq + 1);
        if (input.selection === null && !extent.complete) await take([changedItem(source, seq++)], index);
        progress.sourceDone(source);
        continue;
      }
      const config = input.record.config.sources[source.corpus]!;
      const options = {
        itemBytes: input.record.config.limits.itemBytes,
        signal,
        onBytes: (bytes: number) => progress.sourceAt(bytes),
      };
      for await (const items of readSource(source, config, seq, options)) {
        seq += items.length;
        await take(items, index);
        // Readers may serve from memory for long; judging and committing share this loop.
        await setImmediate();
        signal.throwIfAborted();
      }
      progress.sourceDone(source);
    }
    await plan(cutter.end());
    if (!survey.closed.has(input.pass)) {
      const items = itemsBySource.reduce((sum, count) => sum + count, 0);
      await input.plan.append([
        { closed: true, pass: input.pass, shards, items, items_by_source: itemsBySource },
      ]);
    }
    progress.close();
  } finally {
    await follower?.close();
  }
}

/** First seq of each source, and the number of items at the end; null while the first pass is not closed. */
function startsOf(survey: PlanSurvey, sources: number): Float64Array | null {
  const first = survey.closed.get(1);
  if (first === undefined) return null;
  const starts = new Float64Array(sources + 1);
  first.items_by_source.forEach((items, source) => (starts[source + 1] = starts[source]! + items));
  return starts;
}

const BATCH = 1024;

/** The given seqs, or those from `from` up to `to`, in arrays of bounded length. */
function* batches(
  seqs: readonly number[] | { readonly from: number; readonly to: number },
): Generator<number[]> {
  if ('from' in seqs) {
    for (let at = seqs.from; at < seqs.to; at += BATCH) {
      yield Array.from({ length: Math.min(BATCH, seqs.to - at) }, (_, index) => at + index);
    }
  } else {
    for (let at = 0; at < seqs.length; at += BATCH) yield seqs.slice(at, at + BATCH);
  }
}

function changedItem(source: FrozenSource, seq: number): SettledItem {
  return {
    seq,
    id: `${source.path}#seq-${seq}`,
    source: { path: source.path, row: null, line: null, sha256: null, bytes: null },
    request: null,
    modality: null,
    requestType: null,
    contentSha256: null,
    error: itemError('SOURCE_CHANGED', 'the file changed after the run was created'),
  };
}
