import type { Lane } from '../../domain/item.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import { DroppedJobs } from '../../queue/redis/sealing/dropped-jobs.ts';
import { sealedJobs, type JobContent } from '../../queue/redis/sealing/sealed-jobs.ts';
import { UnreadableJobs } from '../jobs/unreadable-jobs.ts';
import { RedisQueue } from '../../queue/redis/redis-queue.ts';
import { sinkJobCodec, type SinkJob } from '../jobs/result-job.ts';
import { shardJobCodec, type ShardJob } from '../jobs/shard-job.ts';

/** Results of one run that may wait for its sink; workers then hold theirs back. */
const WAITING_RESULTS = 64;
/** Feeders bound what they have outstanding themselves, each for its own run. */
const UNBOUNDED = Number.POSITIVE_INFINITY;
/** A sink that died loses its results to the next one after so long, in milliseconds; it commits in far less. */
const SINK_LOCK_MS = 10_000;

export interface FleetQueueOptions {
  /** After so long without a sign of life a worker loses its shards to others, in milliseconds. */
  readonly lockMs: number;
  /** Told of what is dropped, for those who take something out. */
  readonly dropped: DroppedJobs;
}

/** For processes that only put something into a queue, or look at it: their lock is never taken. */
export const NOTHING_TAKEN: FleetQueueOptions = {
  lockMs: 30_000,
  dropped: new DroppedJobs(
    () => {},
    () => {},
  ),
};

/** The shards of a lane that wait to be judged, of all runs. */
export function shardQueue(
  link: RedisLink,
  lane: Lane,
  options: FleetQueueOptions = NOTHING_TAKEN,
): RedisQueue<ShardJob> {
  return make(link, `shards-${lane}`, shardJobCodec, UNBOUNDED, options);
}

/** What waits for the sink of a run. Each run has its own, so that one without a sink holds up no other. */
export function sinkQueue(
  link: RedisLink,
  run: string,
  { dropped }: Pick<FleetQueueOptions, 'dropped'> = NOTHING_TAKEN,
): RedisQueue<SinkJob> {
  return make(link, `results-${run}`, sinkJobCodec, WAITING_RESULTS, { lockMs: SINK_LOCK_MS, dropped });
}

function make<T>(
  link: RedisLink,
  name: string,
  content: JobContent<T>,
  bound: number,
  { lockMs, dropped }: FleetQueueOptions,
): RedisQueue<T> {
  const unreadable = new UnreadableJobs(link, dropped);
  return new RedisQueue(link, {
    name,
    codec: sealedJobs(content, name, link.seal),
    bound,
    lockMs,
    unreadable: (jobId, error, signal) => unreadable.meet(jobId, error, signal),
  });
}
