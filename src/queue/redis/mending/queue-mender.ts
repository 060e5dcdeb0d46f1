import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { MAX_REQUEUE_DELAY_MS } from '../../requeue.ts';
import { parseValue } from '../keys/read-value.ts';
import type { RedisLink } from '../link.ts';
import { retryWhileTransient } from '../retry-while-transient.ts';
import { MAX_LOCK_MS } from '../../../config/values/lock.ts';
import { MAX_JOB_BYTES, MAX_STALL_CHECK_MS } from './job-bounds.ts';
import { DISCARD_JOB, INSPECT_JOBS, MEND_KEYS, RELEASE_JOBS } from './mending-scripts.ts';

/** Min interval between two mendings, in milliseconds. */
const MIN_INTERVAL_MS = 250;
/** Tolerance for clock skew between machines, in milliseconds. */
const GRACE_MS = 5000;
/** Max inspected jobs per state, beginning with those that are next or were taken last. */
const MAX_JOBS = 2000;

/** A job's options are not used, but BullMQ fails on a job whose options are not an object. */
const OPTIONS = z.record(z.string(), z.unknown());

/**
 * Removes from a BullMQ queue what BullMQ cannot process: keys of the wrong type, settings that we never use and that
 * could pause the queue forever, locks and delays that would block a job, and the data of jobs that BullMQ cannot
 * process. Such a job is delivered without data, and its consumer drops it. Feeders feed lost shards again.
 */
export class QueueMender {
  readonly #link: RedisLink;
  readonly #name: string;
  #mending: Promise<void> | null = null;

  constructor(link: RedisLink, name: string) {
    this.#link = link;
    this.#name = name;
  }

  /** Mends the queue. Calls during a mending, or within MIN_INTERVAL_MS after it, share its promise. */
  mend(signal: AbortSignal): Promise<void> {
    this.#mending ??= this.#mend(signal).finally(() => (this.#mending = null));
    return this.#mending;
  }

  /** Removes a job unless it is being handled, even if keys of the queue are malformed. */
  async discard(id: string, signal: AbortSignal): Promise<void> {
    await retryWhileTransient(() => this.#link.redis.eval(DISCARD_JOB, 1, this.#prefix, id), signal);
  }

  /** Puts back jobs that were locked with this token but never reached the worker. */
  async release(token: string, signal: AbortSignal): Promise<void> {
    const release = (): Promise<unknown> =>
      this.#link.redis.eval(RELEASE_JOBS, 1, this.#prefix, token, MAX_JOBS);
    await retryWhileTransient(release, signal);
  }

  async #mend(signal: AbortSignal): Promise<void> {
    const { redis, skipped } = this.#link;
    const mend = (): Promise<unknown> =>
      redis.eval(MEND_KEYS, 1, this.#prefix, MAX_STALL_CHECK_MS, MAX_REQUEUE_DELAY_MS + GRACE_MS);
    const removed = await retryWhileTransient(mend, signal);
    for (const key of removed as string[]) skipped.skip(key, 'is not one of ours; removed');
    const inspect = (): Promise<unknown> =>
      redis.eval(INSPECT_JOBS, 1, this.#prefix, MAX_JOBS, MAX_JOB_BYTES, MAX_LOCK_MS);
    const [jobs, unusable] = (await retryWhileTransient(inspect, signal)) as [string[], string[]];
    const broken = [...unusable];
    for (let at = 0; at < jobs.length; at += 2) {
      if (parseValue(jobs[at + 1]!, OPTIONS) === null) broken.push(jobs[at]!);
    }
    if (broken.length > 0) {
      // Without its lock, an active job is soon delivered again.
      const keys = broken.flatMap((id) => [this.#prefix + id, `${this.#prefix}${id}:lock`]);
      await retryWhileTransient(() => redis.unlink(...keys), signal);
      skipped.skip(this.#prefix + broken[0]!, 'this job, and possibly more, cannot be processed; dropped');
    }
    await delay(MIN_INTERVAL_MS, undefined, { signal });
  }

  /** Prefix of the keys of the queue and its jobs, with a colon at the end. */
  get #prefix(): string {
    return this.#link.key(this.#name, '');
  }
}

/** Whether an error of Redis or BullMQ may be caused by malformed keys, which mending removes. */
export function isMendable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name !== 'ReplyError') return error instanceof SyntaxError || error instanceof TypeError;
  return /^WRONGTYPE\b|^ERR .*(?:user_script|not an integer|out of range|not a valid float)/.test(
    error.message,
  );
}
