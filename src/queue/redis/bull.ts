import { Queue, type Job, type Processor, type Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import type { RedisLink } from './link.ts';
import { CarefulWorker } from './mending/careful-worker.ts';
import { MAX_STALL_CHECK_MS } from './mending/job-bounds.ts';
import { isMendable, type QueueMender } from './mending/queue-mender.ts';

/** A shard that many workers lost hold of is no reason to drop it: what kills workers is found item by item. */
const MAX_STALLED_COUNT = 1_000_000;
/** Where nothing is waiting, how long one blocking wait for a job is, in seconds. */
const BLOCK_SECONDS = 5;
/** We limit no rate; a limit that somebody else set is soon mended, and then to be forgotten, in milliseconds. */
const MAX_RATE_LIMIT_MS = 1000;

/**
 * The only place that makes BullMQ queues. Jobs leave Redis when they are over, in whatever way, because whatever is
 * not committed is fed again; and nothing is kept in the stream of events, which nobody reads.
 */
export function makeQueue(link: RedisLink, name: string): Queue {
  const queue = new Queue(name, {
    connection: link.redis,
    prefix: link.address.prefix,
    streams: { events: { maxLen: 0 } },
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true, attempts: 1 },
  });
  // Connections that are lost are the link's to tell of; without a listener they would end the process.
  queue.on('error', () => {});
  return queue;
}

/**
 * Says again what `makeQueue` said of events. BullMQ writes it when a queue is made, and without it, as after Redis
 * lost its data, would keep ten thousand of each.
 */
export async function keepNoEvents(link: RedisLink, name: string): Promise<void> {
  await link.redis.hset(link.key(name, 'meta'), 'opts.maxLenEvents', 0);
}

interface WorkerSettings {
  readonly concurrency: number;
  /** After so long without a sign of life a process loses its jobs to others, in milliseconds. */
  readonly lockMs: number;
  readonly mender: QueueMender;
  /** Aborted when the worker is to end. */
  readonly signal: AbortSignal;
}

/** The only place that makes BullMQ workers. It does not begin before `run` is called. */
export function makeWorker(
  link: RedisLink,
  connection: Redis,
  name: string,
  process: Processor<unknown, void>,
  { concurrency, lockMs, mender, signal }: WorkerSettings,
): Worker<unknown, void> {
  const worker = new CarefulWorker(name, process, {
    connection,
    prefix: link.address.prefix,
    autorun: false,
    concurrency,
    lockDuration: lockMs,
    stalledInterval: Math.min(MAX_STALL_CHECK_MS, Math.max(1000, Math.round(lockMs / 3))),
    maxStalledCount: MAX_STALLED_COUNT,
    drainDelay: BLOCK_SECONDS,
    maximumRateLimitDelay: MAX_RATE_LIMIT_MS,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
  });
  const mend = async (error: unknown): Promise<void> => {
    if (isMendable(error) && !link.away && !signal.aborted) await mender.mend(signal).catch(() => {});
  };
  worker.mend = async (error, token) => {
    await mend(error);
    if (isMendable(error) && !link.away && !signal.aborted)
      await mender.release(token, signal).catch(() => {});
  };
  // Lost locks show only here. They are harmless: a shard counts once.
  worker.on('error', (error) => void mend(error));
  return worker;
}

export type AnyJob = Job<unknown, void>;
