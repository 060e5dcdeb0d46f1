import { Queue, Worker, type Job, type Processor } from 'bullmq';
import type { Redis } from 'ioredis';
import type { RedisLink } from './link.ts';

/** A shard that stalled many times is not dropped: the fleet detects the item that kills workers. */
const MAX_STALLED_COUNT = 1_000_000;
/** Timeout of one blocking wait for a job, in seconds. */
const BLOCK_SECONDS = 5;
/** Wait after a job could not be fetched, in milliseconds. */
const RETRY_DELAY_MS = 1000;
/** Max interval between checks for stalled jobs, in milliseconds. */
const MAX_STALL_CHECK_MS = 10_000;

/**
 * The only place that creates BullMQ queues. Jobs are removed from Redis when they complete or fail, because everything
 * uncommitted is fed again. The event stream is kept empty: nothing reads it.
 */
export function makeQueue(link: RedisLink, name: string): Queue {
  const queue = new Queue(name, {
    connection: link.redis,
    prefix: link.address.prefix,
    streams: { events: { maxLen: 0 } },
    defaultJobOptions: { removeOnComplete: true, removeOnFail: true, attempts: 1 },
  });
  // The link reports lost connections; without a listener an error would end the process.
  queue.on('error', () => {});
  return queue;
}

/**
 * Restores the event setting of `makeQueue` after Redis lost its data. BullMQ writes it only when a queue is created,
 * and keeps about 10,000 events without it.
 */
export async function disableEvents(link: RedisLink, name: string): Promise<void> {
  await link.redis.hset(link.key(name, 'meta'), 'opts.maxLenEvents', 0);
}

interface WorkerSettings {
  readonly concurrency: number;
  /** In milliseconds: a process that does not renew its locks for this long loses its jobs to others. */
  readonly lockMs: number;
}

/** The only place that creates BullMQ workers. The worker starts when `run` is called. */
export function makeWorker(
  link: RedisLink,
  connection: Redis,
  name: string,
  process: Processor<unknown, void>,
  { concurrency, lockMs }: WorkerSettings,
): Worker<unknown, void> {
  const worker = new Worker<unknown, void>(name, process, {
    connection,
    prefix: link.address.prefix,
    autorun: false,
    concurrency,
    lockDuration: lockMs,
    stalledInterval: Math.min(MAX_STALL_CHECK_MS, Math.max(1000, Math.round(lockMs / 3))),
    maxStalledCount: MAX_STALLED_COUNT,
    drainDelay: BLOCK_SECONDS,
    runRetryDelay: RETRY_DELAY_MS,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
  });
  // Lost locks are reported only here; they are harmless: a shard is committed once.
  worker.on('error', () => {});
  return worker;
}

export type AnyJob = Job<unknown, void>;
