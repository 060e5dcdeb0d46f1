import { setTimeout as delay } from 'node:timers/promises';
import { setMaxListeners } from 'node:events';
import { Requeue } from './requeue.ts';
import type { ClosableQueue } from './work-queue.ts';

/** The queue of a run on one machine: first in, first out, in memory. */
export class LocalQueue<T> implements ClosableQueue<T> {
  readonly #bound: number;
  readonly #waiting: T[] = [];
  readonly #wakeups = new Set<() => void>();
  #closed = false;

  /** `bound`: how many values may wait; at least 1. */
  constructor(bound: number) {
    this.#bound = bound;
  }

  async add(value: T, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    while (this.#waiting.length >= this.#bound) await this.#change(signal);
    if (this.#closed) throw new Error('the queue is closed');
    this.#waiting.push(value);
    this.#wake();
  }

  close(): void {
    this.#closed = true;
    this.#wake();
  }

  async consume(
    handle: (value: T, signal: AbortSignal) => Promise<void>,
    options: { readonly concurrency: number; readonly signal: AbortSignal },
  ): Promise<void> {
    const failed = new AbortController();
    const signal = AbortSignal.any([options.signal, failed.signal]);
    // Each lane may listen at once; that is no leak.
    setMaxListeners(options.concurrency + 1, signal);
    const lane = async (): Promise<void> => {
      try {
        for (;;) {
          signal.throwIfAborted();
          if (this.#waiting.length > 0) {
            const value = this.#waiting.shift() as T;
            this.#wake();
            await this.#handle(value, handle, options.signal);
          } else if (this.#closed) return;
          else await this.#change(signal);
        }
      } catch (error) {
        failed.abort(error);
      }
    };
    await Promise.all(Array.from({ length: options.concurrency }, lane));
    failed.signal.throwIfAborted();
  }

  async #handle(
    value: T,
    handle: (value: T, signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    for (;;) {
      try {
        return await handle(value, signal);
      } catch (error) {
        if (!(error instanceof Requeue)) throw error;
        await delay(error.delayMs, undefined, { signal }).catch(() => signal.throwIfAborted());
      }
    }
  }

  #wake(): void {
    const wakeups = [...this.#wakeups];
    this.#wakeups.clear();
    for (const wakeup of wakeups) wakeup();
  }

  /** Resolves at the next add, take or close; rejects on abort. */
  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const wakeup = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = (): void => {
        this.#wakeups.delete(wakeup);
        reject(signal.reason as Error);
      };
      if (signal.aborted) {
        reject(signal.reason as Error);
        return;
      }
      this.#wakeups.add(wakeup);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }
}
