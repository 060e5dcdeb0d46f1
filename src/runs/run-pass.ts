import { setMaxListeners } from 'node:events';
import { Failure } from '../domain/failure.ts';
import { shardBytes, type Shard, type ShardResult } from '../domain/shard.ts';
import type { Judge } from '../moderate/parts/judge-parts.ts';
import { CorpusFolders } from '../moderate/media/corpus-folders.ts';
import { Moderator } from '../moderate/moderator.ts';
import { Normalizer } from '../normalize/normalizer.ts';
import { retryWhileDiskFull } from '../files/disk-full.ts';
import { ByteBudget } from '../flow/byte-budget.ts';
import { corpusRoots } from '../ingest/sources/file-place.ts';
import { LocalQueue } from '../queue/local-queue.ts';
import { withSnippets } from '../record/outcomes/snippets.ts';
import type { LogWriter } from '../sink/verdict-log/log-writer.ts';
import { planPass, type PassPlan } from './plan-pass.ts';
import type { BracketedReuse } from './reuse/bracketed-reuse.ts';
import type { StageCounts } from './progress.ts';
import { clearMarker, RunCancelled, setMarker } from './control/control-files.ts';

/**
 * Shards of a run in one process: waiting to be judged, being judged, and waiting to be committed. More are being
 * judged than the guards can work on: some texts of each shard wait for others of their length, and some for the
 * version reading that makes them verdicts. The guard pool admits what it can use.
 */
const WAITING_SHARDS = 8;
const SHARDS_IN_FLIGHT = 64;
const MAX_WAITING_RESULTS = 8;
/** Maximum results that share one fsync of the log. */
const MAX_COMMITS_IN_FLIGHT = 16;
/** Maximum content between planning and the log, in bytes: shards are small, except those of one large item. */
const BYTES_UNDER_WAY = 64 * 1024 * 1024;

interface PassInput extends Omit<PassPlan, 'submit' | 'isCommitted' | 'signal'> {
  readonly log: Pick<LogWriter, 'runDir' | 'diskFull' | 'epoch' | 'isCommitted' | 'commit' | 'commitChecks'>;
  readonly judge: Judge;
  /** Resolves the items of a shard that need not be judged. */
  readonly reuse: BracketedReuse;
  readonly stages: StageCounts;
  /** Called with each committed result. */
  readonly committed: (result: ShardResult) => Promise<void>;
  /** Aborted when no new shard may begin; shards in flight are judged and committed. */
  readonly drain: AbortSignal;
  /** Aborted when everything must end at once. */
  readonly stop: AbortSignal;
  /** Resolves while the run is not paused. */
  readonly whenRunning: (signal: AbortSignal) => Promise<void>;
}

/** A planned shard, and the size of its content in bytes. */
interface PlannedShard {
  readonly shard: Shard;
  readonly bytes: number;
}

interface PlannedResult {
  readonly result: ShardResult;
  readonly bytes: number;
}

/**
 * Runs one pass in this process: planning, judging and committing run concurrently and are coupled only by bounded
 * queues. Resolves when the plan is closed and committed, and the guards have passed the canaries once more. Rejects
 * with Failure `interrupted` when drained or stopped before, otherwise with the failure of the first stage that failed.
 */
export async function runPass(input: PassInput): Promise<void> {
  const shards = new LocalQueue<PlannedShard>(WAITING_SHARDS);
  const results = new LocalQueue<PlannedResult>(MAX_WAITING_RESULTS);
  const budget = new ByteBudget(BYTES_UNDER_WAY);
  const failed = new AbortController();
  const signal = AbortSignal.any([input.stop, failed.signal]);
  const draining = AbortSignal.any([input.drain, signal]);
  // One listener per shard in flight, and more in what they call.
  setMaxListeners(0, signal, draining);
  const { judging, policy, output } = input.record.config;
  const normalizer = Normalizer.open({});
  const folders = new CorpusFolders(corpusRoots(input.sources));
  const moderator = new Moderator({ judge: input.judge, normalizer, folders });
  const session = `${input.record.run}-${input.log.epoch}`;

  /** Runs a stage. Its failure aborts the others; when it was only drained, `after` lets the next stage finish. */
  const stage = async (work: () => Promise<void>, after: () => void): Promise<void> => {
    try {
      await work();
    } catch (error) {
      // A timer reports an abort with its own error instead of the signal's reason.
      const aborted = error instanceof Error && error.name === 'AbortError';
      if (input.stop.aborted && aborted) failed.abort(input.stop.reason);
      else if (!input.drain.aborted || !(aborted || error === input.drain.reason)) failed.abort(error);
    } finally {
      after();
    }
  };

  const submit: PassPlan['submit'] = async (shard, aborted) => {
    await input.whenRunning(aborted);
    const bytes = shardBytes(shard.items);
    await budget.enter(bytes, aborted);
    await shards.add({ shard, bytes }, aborted);
  };
  const judge = async ({ shard: planned, bytes }: PlannedShard): Promise<void> => {
    const settled = await input.reuse.settle(planned, signal);
    const shard = await input.reuse.confirm(planned, settled, signal);
    input.stages.sent(shard);
    const result = await moderator.moderate(shard, { judging, session, signal });
    input.stages.judged(result);
    const kept = output.includeContent ? withSnippets(result, policy) : result;
    await results.add({ result: kept, bytes }, signal);
  };
  const commit = async ({ result, bytes }: PlannedResult): Promise<void> => {
    await input.log.commit(result);
    input.stages.committed(result);
    budget.leave(bytes);
    await input.committed(result);
  };

  const stages = [
    stage(
      () =>
        planPass({
          ...input,
          isCommitted: (shard) => input.log.isCommitted(shard),
          submit,
          signal: draining,
        }),
      () => shards.close(),
    ),
    stage(
      () => shards.consume(judge, { concurrency: SHARDS_IN_FLIGHT, signal: draining }),
      () => results.close(),
    ),
    stage(
      () => results.consume(commit, { concurrency: MAX_COMMITS_IN_FLIGHT, signal }),
      () => undefined,
    ),
  ];
  try {
    await Promise.all(stages);
  } finally {
    await normalizer.close();
  }

  if (failed.signal.aborted && failed.signal.reason !== input.stop.reason) throw failed.signal.reason;
  if (input.drain.reason instanceof RunCancelled) throw input.drain.reason;
  if (input.drain.aborted || input.stop.aborted) throw new Failure('interrupted', 'interrupted');
  const { log } = input;
  await retryWhileDiskFull('the folder control', () => setMarker(log.runDir, 'unchecked'), log.diskFull);
  await log.commitChecks(await moderator.finish(input.stop));
  await clearMarker(log.runDir, 'unchecked');
}
