import { setTimeout as delay } from 'node:timers/promises';
import type { Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { makeQueue, makeWorker } from './bull.ts';
import type { RedisLink } from './link.ts';
import { retryWhileTransient } from './retry-while-transient.ts';

const QUEUE = 'schedules';
/** Lock time, in milliseconds. A wake-up is handled at once; if a process dies with one, the next gets it. */
const LOCK_MS = 10_000;
/** Max wait for Redis when wake-ups end, in milliseconds. */
const CLOSE_MS = 3000;

/** Wake-up times by name. */
type Times = ReadonlyMap<string, { readonly cron: string; readonly timezone: string }>;

/**
 * Wakes a process at scheduled times, with BullMQ's job schedulers. One of several processes is woken. Redis may lose
 * wake-ups, so callers must also check the clock themselves.
 */
export class WakeUps {
  readonly #queue: Queue;
  readonly #worker: Worker<unknown, void>;
  readonly #connection: Redis;
  readonly #signal: AbortSignal;
  readonly #stopListening: () => void;
  #times: Times = new Map();
  #setting = Promise.resolve();

  constructor(link: RedisLink, wake: () => void, signal: AbortSignal) {
    this.#signal = signal;
    this.#queue = makeQueue(link, QUEUE);
    this.#connection = link.newConnection();
    this.#worker = makeWorker(link, this.#connection, QUEUE, async () => wake(), {
      concurrency: 1,
      lockMs: LOCK_MS,
    });
    this.#worker.run().catch(() => {});
    this.#stopListening = link.onBack(() => this.set(this.#times));
  }

  /** Replaces all times, as soon as Redis can be reached. */
  set(times: Times): void {
    this.#times = times;
    this.#setting = this.#setting.then(() => this.#write(times)).catch(() => {});
  }

  async #write(times: Times): Promise<void> {
    if (times !== this.#times) return;
    const known = await this.#send(() => this.#queue.getJobSchedulers());
    for (const { key } of known) {
      if (!times.has(key)) await this.#send(() => this.#queue.removeJobScheduler(key));
    }
    for (const [name, { cron, timezone }] of times) {
      await this.#send(() =>
        this.#queue.upsertJobScheduler(name, { pattern: cron, tz: timezone }, { name: 'due' }),
      );
    }
  }

  #send<T>(command: () => Promise<T>): Promise<T> {
    return retryWhileTransient(command, this.#signal);
  }

  /** Stops waiting; the times stay in Redis. */
  async close(): Promise<void> {
    this.#stopListening();
    const closing = Promise.allSettled([this.#worker.close(), this.#queue.close()]);
    await Promise.race([closing, delay(CLOSE_MS, undefined, { ref: false })]);
    this.#connection.disconnect();
  }
}
