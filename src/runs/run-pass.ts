import { setMaxListeners } from 'node:events';
import { Failure } from '../domain/failure.ts';
import { shardBytes, type Shard, type ShardResult } from '../domain/shard.ts';
import type { Judge } from '../moderate/judge.ts';
import { CorpusFolders } from '../moderate/media/corpus-folders.ts';
import { Moderator } from '../moderate/moderator.ts';
import { Normalizer } from '../normalize/normalizer.ts';
import { ByteBudget } from '../flow/byte-budget.ts';
import { corpusRoots } from '../ingest/sources/corpus-roots.ts';
import { LocalQueue } from '../queue/local-queue.ts';
import type { LogWriter } from '../sink/verdict-log/log-writer.ts';
import { feed, type FeedInput } from './feed.ts';

/**
 * Shards of a run on one machine: waiting to be judged, being judged, and waiting to be committed. Being judged are more
 * than the guards can work on: of each, some texts wait for others of their length, and some for the version reading that
 * makes them verdicts. The pool of guards lets in what it can use.
 */
const WAITING_SHARDS = 8;
const SHARDS_IN_FLIGHT = 64;
const WAITING_RESULTS = 8;
/** Results that share one synchronisation of the log. */
const COMMITS_IN_FLIGHT = 16;
/** Content between the feeder and the log: shards are small, but for those of one large item. */
const BYTES_UNDER_WAY = 64 * 1024 * 1024;

export interface PassInput extends Omit<FeedInput, 'queue' | 'isCommitted' | 'signal'> {
  readonly log: Pick<LogWriter, 'epoch' | 'isCommitted' | 'commit'>;
  readonly judge: Judge;
  /** Aborted when no new shard is to be begun; what is in flight is judged and committed. */
  readonly drain: AbortSignal;
  /** Aborted when everything is to end at once. */
  readonly stop: AbortSignal;
  /** Resolves while the run is not paused. */
  readonly whenRunning: (signal: AbortSignal) => Promise<void>;
}

/**
 * Runs one pass in this process: the feeder, judging and committing side by side, each waiting for the next only
 * through a bounded queue. Resolves when the plan is closed and committed; rejects with Failure `interrupted`
 * when it was drained or stopped before, else with the first stage's failure.
 */
export async function runPass(input: PassInput): Promise<void> {
  const shards = new LocalQueue<Shard>(WAITING_SHARDS);
  const results = new LocalQueue<ShardResult>(WAITING_RESULTS);
  const budget = new ByteBudget(BYTES_UNDER_WAY);
  const failed = new AbortController();
  const signal = AbortSignal.any([input.stop, failed.signal]);
  const draining = AbortSignal.any([input.drain, signal]);
  // As many waits as there are shards in flight listen to these, and what they call.
  setMaxListeners(0, signal, draining);
  const { judging } = input.record.config;
  const normalizer = Normalizer.open({});
  const folders = new CorpusFolders(corpusRoots(input.sources));
  const moderator = new Moderator({ judge: input.judge, normalizer, folders });
  const session = `${input.record.run}-${input.log.epoch}`;

  /** Runs a stage; its failure ends the others, and what it leaves over is let through when it was only drained. */
  const stage = async (work: () => Promise<void>, after: () => void): Promise<void> => {
    try {
      await work();
    } catch (error) {
      // What waits on a timer is told of an abort by an error that is not the signal's reason.
      const aborted = error instanceof Error && error.name === 'AbortError';
      if (input.stop.aborted && aborted) failed.abort(input.stop.reason);
      else if (!input.drain.aborted || !(aborted || error === input.drain.reason)) failed.abort(error);
    } finally {
      after();
    }
  };

  const queue: FeedInput['queue'] = {
    add: async (shard, aborted) => {
      await input.whenRunning(aborted);
      await budget.enter(shardBytes(shard.items), aborted);
      await shards.add(shard, aborted);
    },
  };
  const commit = async (result: ShardResult): Promise<void> => {
    await input.log.commit(result);
    budget.leave(shardBytes(result.shard.items));
  };

  const stages = [
    stage(
      () =>
        feed({
          ...input,
          isCommitted: (shard) => input.log.isCommitted(shard),
          queue,
          signal: draining,
        }),
      () => shards.close(),
    ),
    stage(
      () =>
        shards.consume(
          async (shard) => results.add(await moderator.moderate(shard, { judging, session, signal }), signal),
          { concurrency: SHARDS_IN_FLIGHT, signal: draining },
        ),
      () => results.close(),
    ),
    stage(
      () => results.consume(commit, { concurrency: COMMITS_IN_FLIGHT, signal }),
      () => undefined,
    ),
  ];
  try {
    await Promise.all(stages);
  } finally {
    await normalizer.close();
  }

  if (failed.signal.aborted && failed.signal.reason !== input.stop.reason) throw failed.signal.reason;
  if (input.drain.aborted || input.stop.aborted) throw new Failure('interrupted', 'interrupted');
}
