import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { setMaxListeners } from 'node:events';
import { DelayedError, WaitingError, type Queue, type Worker } from 'bullmq';
import { Requeue, type WorkQueue } from '../work-queue.ts';
import { Failure } from '../../domain/failure.ts';
import { abortable } from '../../flow/abortable.ts';
import { disableEvents, makeQueue, makeWorker, type AnyJob } from './bull.ts';
import type { RedisLink } from './link.ts';
import { retryWhileTransient } from './retry-while-transient.ts';
import { removeKeysBelow } from './remove-keys.ts';

/** Encodes values as jobs. */
export interface JobCodec<T> {
  /** The job ID of a value: while a job with this ID is in the queue, adding the value again has no effect. */
  id(value: T): string;
  encode(value: T): Buffer;
  /** The data of the job in Redis, as BullMQ expects it. */
  envelope(bytes: Buffer): object;
  /** Throws if the data is not such a value, or does not have this ID. */
  decode(data: unknown, jobId: string): T;
  /** Seals a note about the job with this ID, for Redis. */
  sealNote(jobId: string, note: string): string;
  /** Null if it is not a note about this job. */
  openNote(jobId: string, sealed: string): string | null;
}

/** A value delivered to a process. */
export interface Delivery {
  /** Number of processes that died while they handled the value, or lost their lock on it. */
  readonly deaths: number;
  /** The last process's note about the value, for the next one that gets it; null if there is no readable note. */
  readonly note: string | null;
  setNote(note: string, signal: AbortSignal): Promise<void>;
}

/** A value encoded by `encode`. Values are kept in this form to be added again. */
export interface EncodedJob {
  readonly id: string;
  readonly bytes: Buffer;
}

interface RedisQueueOptions<T> {
  readonly name: string;
  readonly codec: JobCodec<T>;
  /** Max number of waiting values; at least 1. */
  readonly bound: number;
  /** In milliseconds: a process that does not renew its locks for this long loses its values to others. */
  readonly lockMs: number;
  /**
   * Called for a job that cannot be read: it has another version, was sealed with another key, or is not one of ours.
   * The job is dropped when this resolves, and put back when it rejects with `Requeue`.
   */
  readonly unreadable: (jobId: string, error: unknown, signal: AbortSignal) => Promise<void>;
}

export interface QueueDepth {
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
}

const POLL_INTERVAL_MS = 50;
/** BullMQ sorts waiting jobs by their priority times this, plus a counter. */
const TURN_SCORE = 2 ** 32;
/** Returns the id of the round and the lowest score; sets the given id if there is none. */
const DUE_TURN = `
local first = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
if first[2] then return { redis.call('GET', KEYS[2]) or '', first[2] } end
redis.call('SET', KEYS[2], ARGV[1])
return { ARGV[1] }`;

/** Max wait for the last acknowledgements when a consumer ends, in milliseconds. */
const CLOSE_MS = 3000;

/** A queue between processes, on BullMQ. Redis may lose its values: feeders feed again what is in no queue. */
export class RedisQueue<T> implements WorkQueue<T> {
  readonly #link: RedisLink;
  readonly #options: RedisQueueOptions<T>;
  readonly #queue: Queue;
  readonly #stopListening: () => void;
  /** Whether Redis may have lost the queue's settings. */
  #settingsMayBeLost = false;

  constructor(link: RedisLink, options: RedisQueueOptions<T>) {
    this.#link = link;
    this.#options = options;
    this.#queue = makeQueue(link, options.name);
    this.#stopListening = link.onBack(() => (this.#settingsMayBeLost = true));
  }

  async add(value: T, signal: AbortSignal): Promise<void> {
    while (!(await this.hasRoom(signal))) await delay(POLL_INTERVAL_MS, undefined, { signal });
    await this.put(value, signal);
  }

  /** Adds a value regardless of the bound: for producers that keep their own count. */
  async put(value: T, signal: AbortSignal): Promise<void> {
    await this.putEncoded(this.encode(value), signal);
  }

  encode(value: T): EncodedJob {
    const { codec } = this.#options;
    return { id: codec.id(value), bytes: codec.encode(value) };
  }

  /**
   * Adds a value regardless of the bound. Values with a lower `turn`, from 1 to 2^21, are delivered first; values with
   * the same turn, and those without one, are delivered in order. Values without a turn go first.
   */
  async putEncoded({ id: jobId, bytes }: EncodedJob, signal: AbortSignal, turn = 0): Promise<void> {
    const data = this.#options.codec.envelope(bytes);
    if (this.#settingsMayBeLost) {
      await retryWhileTransient(() => disableEvents(this.#link, this.#options.name), signal);
      this.#settingsMayBeLost = false;
    }
    await retryWhileTransient(() => this.#queue.add('value', data, { jobId, priority: turn }), signal);
  }

  /**
   * The turn of the next value to be delivered, and its round. When no value with a turn waits, a new round begins at
   * turn 1.
   */
  async dueTurn(signal: AbortSignal): Promise<{ readonly round: string; readonly due: number }> {
    const keys = ['prioritized', 'round'].map((part) => this.#link.key(this.#options.name, part));
    const ask = (): Promise<unknown> => this.#link.redis.eval(DUE_TURN, 2, ...keys, randomUUID());
    const [round, score] = (await retryWhileTransient(ask, signal)) as [round: string, score?: string];
    return { round, due: score === undefined ? 1 : Math.floor(Number(score) / TURN_SCORE) };
  }

  /** Whether the number of waiting values is below the bound. */
  async hasRoom(signal: AbortSignal): Promise<boolean> {
    const { waiting, delayed } = await this.depth(signal);
    return waiting + delayed < this.#options.bound;
  }

  async depth(signal: AbortSignal): Promise<QueueDepth> {
    const counts = await retryWhileTransient(
      () => this.#queue.getJobCounts('wait', 'prioritized', 'active', 'delayed'),
      signal,
    );
    return {
      waiting: (counts['wait'] ?? 0) + (counts['prioritized'] ?? 0),
      active: counts['active'] ?? 0,
      delayed: counts['delayed'] ?? 0,
    };
  }

  /** Whether a value with this ID waits, is delayed, or is being handled. */
  async has(id: string, signal: AbortSignal): Promise<boolean> {
    return (await retryWhileTransient(() => this.#queue.getJobState(id), signal)) !== 'unknown';
  }

  /** Whether the value with this ID is being handled. */
  async isActive(id: string, signal: AbortSignal): Promise<boolean> {
    return (await retryWhileTransient(() => this.#queue.getJobState(id), signal)) === 'active';
  }

  /** Removes a value unless it is being handled. */
  async remove(id: string, signal: AbortSignal): Promise<void> {
    await retryWhileTransient(() => this.#queue.remove(id), signal);
  }

  /**
   * Removes the queue with all its jobs, even while it is in use: BullMQ's own method requires a paused queue without
   * active jobs. Values being handled lose their locks, which is harmless.
   */
  async obliterate(signal: AbortSignal): Promise<void> {
    await removeKeysBelow(this.#link, [this.#options.name], signal);
  }

  async consume(
    handle: (value: T, signal: AbortSignal, delivery: Delivery) => Promise<void>,
    options: { readonly concurrency: number; readonly signal: AbortSignal },
  ): Promise<void> {
    options.signal.throwIfAborted();
    const failed = new AbortController();
    const ended = AbortSignal.any([options.signal, failed.signal]);
    setMaxListeners(0, ended);
    const running = new Set<Promise<void>>();
    const take = async (job: AnyJob, token: string | undefined): Promise<void> => {
      if (ended.aborted) return putBack(job, token, 0);
      const handling = this.#handle(job, handle, options.signal);
      // Counts as running only until it settles: waiting for it must not include the acknowledgement to Redis.
      const settled: Promise<void> = handling.then(
        () => void running.delete(settled),
        () => void running.delete(settled),
      );
      running.add(settled);
      try {
        await handling;
      } catch (error) {
        if (!(error instanceof Requeue)) failed.abort(error);
        return await putBack(job, token, error instanceof Requeue ? error.delayMs : 0);
      }
    };
    const { concurrency } = options;
    const connection = this.#link.newConnection();
    const worker = makeWorker(this.#link, connection, this.#options.name, take, {
      concurrency,
      lockMs: this.#options.lockMs,
    });
    const ran = worker.run().catch((error: unknown) => failed.abort(error));
    await aborted(ended);
    // Takes no more jobs. Closing would also wait for an unreachable Redis; waiting for the handlers does not.
    const closing = worker.close();
    while (running.size > 0) await Promise.all(running);
    await this.#closed(worker, Promise.all([closing, ran]));
    connection.disconnect();
    throw ended.reason;
  }

  async #handle(
    job: AnyJob,
    handle: (value: T, signal: AbortSignal, delivery: Delivery) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const jobId = job.id ?? '';
    let value: T;
    try {
      value = this.#options.codec.decode(job.data, jobId);
    } catch (error) {
      return this.#options.unreadable(jobId, error, signal);
    }
    return handle(value, signal, this.#delivered(job, jobId));
  }

  #delivered(job: AnyJob, jobId: string): Delivery {
    const { codec } = this.#options;
    const { progress } = job;
    return {
      deaths: job.stalledCounter,
      note: typeof progress === 'string' ? codec.openNote(jobId, progress) : null,
      setNote: async (note, signal) => {
        try {
          await retryWhileTransient(() => job.updateProgress(codec.sealNote(jobId, note)), signal);
        } catch (error) {
          signal.throwIfAborted();
          if (error instanceof Failure) throw error;
          // Redis has lost the job: it is fed again.
          throw new Requeue(0);
        }
      },
    };
  }

  async close(): Promise<void> {
    this.#stopListening();
    await Promise.race([this.#queue.close(), delay(CLOSE_MS, undefined, { ref: false })]);
  }

  async #closed(worker: Worker, closing: Promise<unknown>): Promise<void> {
    closing.catch(() => {});
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), this.#link.away ? 0 : CLOSE_MS);
    try {
      await abortable(closing, deadline.signal);
    } catch {
      // Redis is unreachable: values that were not acknowledged will be delivered again.
      void worker.disconnect().catch(() => {});
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Puts a job back. The error tells BullMQ that the job was moved and has neither completed nor failed. */
async function putBack(job: AnyJob, token: string | undefined, delayMs: number): Promise<never> {
  if (delayMs > 0) {
    // Its turn has passed, and turns may have started again in the meantime.
    await job.changePriority({ priority: 0 });
    await job.moveToDelayed(Date.now() + delayMs, token);
    throw new DelayedError();
  }
  await job.moveToWait(token);
  throw new WaitingError();
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
