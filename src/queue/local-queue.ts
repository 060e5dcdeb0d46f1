import { setTimeout as delay } from 'node:timers/promises';
import { setMaxListeners } from 'node:events';
import { WaitList } from '../flow/wait-list.ts';
import { Requeue, type ClosableQueue } from './work-queue.ts';

/** The queue of a run on one machine: first in, first out, in memory. */
export class LocalQueue<T> implements ClosableQueue<T> {
  readonly #maxWaiting: number;
  readonly #waiting: T[] = [];
  /** Producers that wait for room, and consumers that wait for a value. */
  readonly #changes = new WaitList();
  #closed = false;

  /** `maxWaiting` is the maximum number of waiting values; at least 1. */
  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  async add(value: T, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    while (!this.#hasRoom()) await this.#until(() => this.#hasRoom(), signal);
    if (this.#closed) throw new Error('the queue is closed');
    this.#waiting.push(value);
    this.#changes.offerTurns();
  }

  close(): void {
    this.#closed = true;
    this.#changes.offerTurns();
  }

  async consume(
    handle: (value: T, signal: AbortSignal) => Promise<void>,
    options: { readonly concurrency: number; readonly signal: AbortSignal },
  ): Promise<void> {
    const failed = new AbortController();
    const signal = AbortSignal.any([options.signal, failed.signal]);
    // Every lane may listen at once; that is not a leak.
    setMaxListeners(options.concurrency + 1, signal);
    const lane = async (): Promise<void> => {
      try {
        for (;;) {
          signal.throwIfAborted();
          if (this.#waiting.length > 0) {
            const value = this.#waiting.shift() as T;
            this.#changes.offerTurns();
            while (await isRequeued(handle(value, options.signal), options.signal)) continue;
          } else if (this.#closed) return;
          else await this.#until(() => this.#waiting.length > 0 || this.#closed, signal);
        }
      } catch (error) {
        failed.abort(error);
      }
    };
    await Promise.all(Array.from({ length: options.concurrency }, lane));
    failed.signal.throwIfAborted();
  }

  #hasRoom(): boolean {
    return this.#waiting.length < this.#maxWaiting;
  }

  /** Resolves once the condition held. Other waiters may have been faster, so the caller checks it again. */
  #until(condition: () => boolean, signal: AbortSignal): Promise<void> {
    return this.#changes.wait(() => (condition() ? 'taken' : 'skipped'), signal);
  }
}

/** Awaits a handler. Returns true, after the requested delay, when its value must be handled again. */
async function isRequeued(handled: Promise<void>, signal: AbortSignal): Promise<boolean> {
  try {
    await handled;
    return false;
  } catch (error) {
    if (!(error instanceof Requeue)) throw error;
    await delay(error.delayMs, undefined, { signal }).catch(() => signal.throwIfAborted());
    return true;
  }
}
