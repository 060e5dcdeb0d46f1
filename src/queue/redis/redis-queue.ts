import { setTimeout as delay } from 'node:timers/promises';
import { setMaxListeners } from 'node:events';
import { DelayedError, WaitingError, type Queue, type Worker } from 'bullmq';
import { Requeue } from '../requeue.ts';
import type { WorkQueue } from '../work-queue.ts';
import { abortable } from '../../flow/abortable.ts';
import { keepNoEvents, makeQueue, makeWorker, type AnyJob } from './bull.ts';
import type { RedisLink } from './link.ts';
import { BOUNDED_SCRIPTS } from './mending/bounded-scripts.ts';
import { isMendable, QueueMender } from './mending/queue-mender.ts';
import { retryWhileTransient } from './retry-while-transient.ts';
import { removeKeysBelow } from './remove-keys.ts';

/** How values become jobs. */
export interface JobCodec<T> {
  /** Names the value: while a job of that name is in the queue, adding it again does nothing. */
  id(value: T): string;
  encode(value: T): object;
  /** Throws for what is not such a value, or not the one of that name. */
  decode(data: unknown, jobId: string): T;
}

interface RedisQueueOptions<T> {
  readonly name: string;
  readonly codec: JobCodec<T>;
  /** How many values may wait; at least 1. */
  readonly bound: number;
  /** After so long without a sign of life a process loses its values to others, in milliseconds. */
  readonly lockMs: number;
  /**
   * Called for a job that cannot be read: it is of another version, under another key, or none of ours. The job is
   * dropped when this resolves; `Requeue` puts it back.
   */
  readonly unreadable: (jobId: string, error: unknown, signal: AbortSignal) => Promise<void>;
}

export interface QueueDepth {
  readonly waiting: number;
  readonly active: number;
  readonly delayed: number;
}

/** Where a value is: nowhere, waiting, being handled, or requeued with a delay. */
export type ValueState = 'unknown' | 'waiting' | 'active' | 'delayed';

const LOOK_EVERY_MS = 50;
const MEND_EVERY_MS = 5000;

/** How long the last acknowledgements may take when a consumer ends, in milliseconds. */
const CLOSE_MS = 3000;

/** A queue between processes, carried by BullMQ. */
export class RedisQueue<T> implements WorkQueue<T> {
  readonly #link: RedisLink;
  readonly #options: RedisQueueOptions<T>;
  readonly #queue: Queue;
  readonly #mender: QueueMender;
  readonly #endListening: () => void;
  /** Whether Redis may have lost the queue's settings. */
  #mayBeUnset = false;

  constructor(link: RedisLink, options: RedisQueueOptions<T>) {
    this.#link = link;
    this.#options = options;
    this.#queue = makeQueue(link, options.name);
    this.#mender = new QueueMender(link, options.name);
    this.#endListening = link.onBack(() => (this.#mayBeUnset = true));
  }

  async add(value: T, signal: AbortSignal): Promise<void> {
    while (!(await this.hasRoom(signal))) await delay(LOOK_EVERY_MS, undefined, { signal });
    await this.put(value, signal);
  }

  /** Hands a value over whatever the bound says: for producers that keep their own count. */
  async put(value: T, signal: AbortSignal): Promise<void> {
    const { codec } = this.#options;
    const data = codec.encode(value);
    const jobId = codec.id(value);
    if (this.#mayBeUnset) {
      await this.#ask(() => keepNoEvents(this.#link, this.#options.name), signal);
      this.#mayBeUnset = false;
    }
    const add = (): Promise<unknown> => this.#queue.add('value', data, { jobId });
    // An addition that broke off half way would keep the next one from doing anything.
    await this.#ask(add, signal, () => this.#mender.discard(jobId, signal));
  }

  /** Whether fewer values wait than the bound allows. */
  async hasRoom(signal: AbortSignal): Promise<boolean> {
    const { waiting, delayed } = await this.depth(signal);
    return waiting + delayed < this.#options.bound;
  }

  async depth(signal: AbortSignal): Promise<QueueDepth> {
    const counts = await this.#ask(() => this.#queue.getJobCounts('wait', 'active', 'delayed'), signal);
    return {
      waiting: counts['wait'] ?? 0,
      active: counts['active'] ?? 0,
      delayed: counts['delayed'] ?? 0,
    };
  }

  /** Whether a value of that name waits or is being handled. */
  async has(id: string, signal: AbortSignal): Promise<boolean> {
    return (await this.state(id, signal)) !== 'unknown';
  }

  async state(id: string, signal: AbortSignal): Promise<ValueState> {
    const state = await this.#ask(() => this.#queue.getJobState(id), signal);
    if (state === 'delayed') return 'delayed';
    return state === 'unknown' || state === 'active' ? state : 'waiting';
  }

  /** Ends the delay of a requeued value; does nothing to one that is not delayed. */
  async wake(id: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#ask(() => this.#queue.getBackend().promote(id), signal);
    } catch (error) {
      signal.throwIfAborted();
      if ((await this.state(id, signal)) === 'delayed') throw error;
    }
  }

  /** Takes a value out, unless it is being handled. */
  async remove(id: string, signal: AbortSignal): Promise<void> {
    await this.#ask(() => this.#mender.discard(id, signal), signal);
  }

  /**
   * Removes the queue with all that is in it, whoever is at work on it: BullMQ's own way wants it to be still.
   * What is being handled loses its lock, which harms nobody.
   */
  async obliterate(signal: AbortSignal): Promise<void> {
    await removeKeysBelow(this.#link, [this.#options.name], signal);
  }

  async consume(
    handle: (value: T, signal: AbortSignal) => Promise<void>,
    options: { readonly concurrency: number; readonly signal: AbortSignal },
  ): Promise<void> {
    options.signal.throwIfAborted();
    const failed = new AbortController();
    const ended = AbortSignal.any([options.signal, failed.signal]);
    setMaxListeners(0, ended);
    const running = new Set<Promise<void>>();
    const take = async (job: AnyJob, token: string | undefined): Promise<void> => {
      if (ended.aborted) return giveBack(job, token, 0);
      const handling = this.#handle(job, handle, options.signal);
      // It counts until it settles, and no longer: whoever waits for it must not wait for what Redis is told then.
      const settled: Promise<void> = handling.then(
        () => void running.delete(settled),
        () => void running.delete(settled),
      );
      running.add(settled);
      try {
        await handling;
      } catch (error) {
        if (!(error instanceof Requeue)) failed.abort(error);
        return await giveBack(job, token, error instanceof Requeue ? error.delayMs : 0);
      }
    };
    const { concurrency } = options;
    const connection = this.#link.another({ scripts: BOUNDED_SCRIPTS });
    const worker = makeWorker(this.#link, connection, this.#options.name, take, {
      concurrency,
      lockMs: this.#options.lockMs,
      mender: this.#mender,
      signal: ended,
    });
    const mending = this.#keepMended(ended);
    const ran = worker.run().catch((error: unknown) => failed.abort(error));
    await aborted(ended);
    // Nothing new is taken from here on; closing would also wait for a Redis that is away, the handlers do not.
    const closing = worker.close();
    while (running.size > 0) await Promise.all(running);
    await mending;
    await this.#closed(worker, Promise.all([closing, ran]));
    connection.disconnect();
    throw ended.reason;
  }

  async #handle(
    job: AnyJob,
    handle: (value: T, signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const jobId = job.id ?? '';
    let value: T;
    try {
      value = this.#options.codec.decode(job.data, jobId);
    } catch (error) {
      return this.#options.unreadable(jobId, error, signal);
    }
    return handle(value, signal);
  }

  async close(): Promise<void> {
    this.#endListening();
    await Promise.race([this.#queue.close(), delay(CLOSE_MS, undefined, { ref: false })]);
  }

  /**
   * A queue that was paused, or whose jobs are too large to be taken, refuses nothing: it is looked at now and then.
   */
  async #keepMended(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await delay(MEND_EVERY_MS, undefined, { signal });
        if (!this.#link.away) await this.#mender.mend(signal);
      } catch {
        // It ends, or Redis answers later.
      }
    }
  }

  /** Asks Redis, and again when what it refused was mended, and what it did before it refused was undone. */
  async #ask<R>(
    command: () => Promise<R>,
    signal: AbortSignal,
    undo: () => Promise<void> = () => Promise.resolve(),
  ): Promise<R> {
    for (;;) {
      try {
        return await retryWhileTransient(command, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!isMendable(error)) throw error;
        await this.#mender.mend(signal);
        await undo();
      }
    }
  }

  async #closed(worker: Worker, closing: Promise<unknown>): Promise<void> {
    closing.catch(() => {});
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), this.#link.away ? 0 : CLOSE_MS);
    try {
      await abortable(closing, deadline.signal);
    } catch {
      // Redis is away: the values that were not acknowledged are handed over again.
      void worker.disconnect().catch(() => {});
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Puts a job back; the error thrown tells BullMQ that it was moved and is neither done nor failed. */
async function giveBack(job: AnyJob, token: string | undefined, delayMs: number): Promise<never> {
  if (delayMs > 0) {
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
