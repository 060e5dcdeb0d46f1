import type { Lane } from '../../domain/item.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import { DroppedJobs } from '../../queue/redis/sealing/dropped-jobs.ts';
import { sealedJobs, type JobContent } from '../../queue/redis/sealing/sealed-jobs.ts';
import { UnreadableJobs } from '../jobs/unreadable-jobs.ts';
import { RedisQueue } from '../../queue/redis/redis-queue.ts';
import { sinkJobCodec, type SinkJob } from '../jobs/result-job.ts';
import { shardJobCodec, type ShardJob } from '../jobs/shard-job.ts';

/** Maximum results of one run waiting for its sink; workers wait while the queue is full. */
const MAX_WAITING_RESULTS = 64;
/** Not limited by the queue: each feeder limits what its own run has outstanding. */
const UNBOUNDED = Number.POSITIVE_INFINITY;
/** Lock duration of a sink's results, in milliseconds; a commit takes far less. */
const SINK_LOCK_MS = 10_000;

interface FleetQueueOptions {
  /** Lock duration, in milliseconds: a worker that does not renew its locks for this long loses its shards to others. */
  readonly lockMs: number;
  /** Counts dropped jobs, for consumers. */
  readonly dropped: DroppedJobs;
}

/** For processes that only add or inspect jobs: they never take a lock. */
const NO_CONSUMER: FleetQueueOptions = {
  lockMs: 30_000,
  dropped: new DroppedJobs(
    () => {},
    () => {},
  ),
};

/** The shards of all runs in a lane that are waiting to be judged. */
export function shardQueue(
  link: RedisLink,
  lane: Lane,
  options: FleetQueueOptions = NO_CONSUMER,
): RedisQueue<ShardJob> {
  return make(link, `shards-${lane}`, shardJobCodec, UNBOUNDED, options);
}

/** The jobs for the sink of a run. Each run has its own queue, so a run without a sink does not block others. */
export function sinkQueue(
  link: RedisLink,
  run: string,
  { dropped }: Pick<FleetQueueOptions, 'dropped'> = NO_CONSUMER,
): RedisQueue<SinkJob> {
  return make(link, `results-${run}`, sinkJobCodec, MAX_WAITING_RESULTS, { lockMs: SINK_LOCK_MS, dropped });
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
    unreadable: (jobId, error, signal) => unreadable.handle(jobId, error, signal),
  });
}
