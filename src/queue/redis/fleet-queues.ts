import type { Lane } from '../../domain/item.ts';
import type { RedisLink } from './link.ts';
import { RedisQueue, type JobCodec } from './redis-queue.ts';
import { sinkJobCodec, type SinkJob } from './result-job.ts';
import { shardJobCodec, type ShardJob } from './shard-job.ts';

/** Results of one run that may wait for its sink; workers then hold theirs back. */
const WAITING_RESULTS = 64;
/** Feeders bound what they have outstanding themselves, each for its own run. */
const UNBOUNDED = Number.POSITIVE_INFINITY;
/** A sink that died loses its results to the next one after so long, in milliseconds; it commits in far less. */
const SINK_LOCK_MS = 10_000;

export interface FleetQueueOptions {
  /** After so long without a sign of life a worker loses its shards to others, in milliseconds. */
  readonly lockMs: number;
  /** One line for people. */
  readonly say: (message: string) => void;
}

/** The shards of a lane that wait to be judged, of all runs. */
export function shardQueue(link: RedisLink, lane: Lane, options: FleetQueueOptions): RedisQueue<ShardJob> {
  return make(link, `shards-${lane}`, shardJobCodec, UNBOUNDED, options);
}

/** What waits for the sink of a run. Each run has its own, so that one without a sink holds up no other. */
export function sinkQueue(link: RedisLink, run: string, say: (message: string) => void): RedisQueue<SinkJob> {
  return make(link, `results-${run}`, sinkJobCodec, WAITING_RESULTS, { lockMs: SINK_LOCK_MS, say });
}

function make<T>(
  link: RedisLink,
  name: string,
  codec: JobCodec<T>,
  bound: number,
  { lockMs, say }: FleetQueueOptions,
): RedisQueue<T> {
  return new RedisQueue(link, {
    name,
    codec,
    bound,
    lockMs,
    // What cannot be read may hold content, so nothing of it is shown.
    unreadable: (jobId) => say(`job ${jobId} is not of this version and was dropped`),
  });
}
