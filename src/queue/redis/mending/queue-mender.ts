import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { MAX_REQUEUE_DELAY_MS } from '../../requeue.ts';
import { parseValue } from '../keys/read-value.ts';
import type { RedisLink } from '../link.ts';
import { retryWhileTransient } from '../retry-while-transient.ts';
import { MAX_LOCK_MS } from '../../../config/values/lock.ts';
import { MAX_JOB_BYTES, MAX_STALL_CHECK_MS } from './job-bounds.ts';
import { DISCARD_JOB, INSPECT_JOBS, MEND_KEYS, RELEASE_JOBS } from './mending-scripts.ts';

/** Who asks for one mending after the other gets them so far apart, in milliseconds. */
const EVERY_MS = 250;
/** For clocks of two machines that differ a little, in milliseconds. */
const GRACE_MS = 5000;
/** Jobs of a state that are looked at, those first that are next or were taken last. */
const MAX_JOBS = 2000;

/** Of BullMQ's options of a job nothing is used, but it gives up on a job whose options are no object. */
const OPTIONS = z.record(z.string(), z.unknown());

/**
 * Takes out of a queue of BullMQ's what BullMQ cannot work with: keys of another type, settings that we never make, which
 * could pause a queue for good, locks and rests that would keep a job from everybody, and the data of jobs that it cannot
 * take. Such a job goes on without data, and whoever
 * takes it drops it. Feeders feed again what is lost by that.
 */
export class QueueMender {
  readonly #link: RedisLink;
  readonly #name: string;
  #mending: Promise<void> | null = null;

  constructor(link: RedisLink, name: string) {
    this.#link = link;
    this.#name = name;
  }

  /** Mends the queue; who calls while that is done, or soon afterwards, waits for the same. */
  mend(signal: AbortSignal): Promise<void> {
    this.#mending ??= this.#mend(signal).finally(() => (this.#mending = null));
    return this.#mending;
  }

  /** Removes a job, in whatever state its keys are, unless it is being handled. */
  async discard(id: string, signal: AbortSignal): Promise<void> {
    await retryWhileTransient(() => this.#link.redis.eval(DISCARD_JOB, 1, this.#prefix, id), signal);
  }

  /** Puts back jobs that were locked with a token and never reached the worker that it was made for. */
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
    for (const key of removed as string[]) skipped.skip(key, 'was none of ours; removed');
    const inspect = (): Promise<unknown> =>
      redis.eval(INSPECT_JOBS, 1, this.#prefix, MAX_JOBS, MAX_JOB_BYTES, MAX_LOCK_MS);
    const [jobs, unusable] = (await retryWhileTransient(inspect, signal)) as [string[], string[]];
    const broken = [...unusable];
    for (let at = 0; at < jobs.length; at += 2) {
      if (parseValue(jobs[at + 1]!, OPTIONS) === null) broken.push(jobs[at]!);
    }
    if (broken.length > 0) {
      // Without a lock a job that was taken is soon handed over again.
      const keys = broken.flatMap((id) => [this.#prefix + id, `${this.#prefix}${id}:lock`]);
      await retryWhileTransient(() => redis.unlink(...keys), signal);
      skipped.skip(this.#prefix + broken[0]!, 'and perhaps more jobs cannot be taken; dropped');
    }
    await delay(EVERY_MS, undefined, { signal });
  }

  /** Before the name of each key of the queue, and of each job. */
  get #prefix(): string {
    return this.#link.key(this.#name, '');
  }
}

/** Whether what a server refused, or BullMQ could not read, may be mended by taking it out. */
export function isMendable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name !== 'ReplyError') return error instanceof SyntaxError || error instanceof TypeError;
  return /^WRONGTYPE\b|^ERR .*(?:user_script|not an integer|out of range|not a valid float)/.test(
    error.message,
  );
}
