import { setTimeout as delay } from 'node:timers/promises';
import type { Say } from '../../domain/say.ts';
import type { RedisAddress } from '../../config/values/redis-url.ts';
import { readDepths } from '../../fleet/redis/depths.ts';
import { listPresent } from '../../fleet/redis/presence.ts';
import { RedisLink } from '../../queue/redis/link.ts';
import type { Health } from '../api/runs.ts';

/** Pause after a failed connection attempt, in milliseconds. */
const RETRY_MS = 10_000;

/** Timeout for a connection attempt, in milliseconds. */
const CONNECT_WITHIN_MS = 5000;

/** Timeout for a Redis query, in milliseconds. */
const ANSWER_WITHIN_MS = 2000;

/** Connects to the Redis of a fleet in the background, and reconnects after a failure. */
export class FleetLink {
  readonly #address: RedisAddress;
  readonly #closing = new AbortController();
  readonly #connecting: Promise<void>;
  #link: RedisLink | null = null;

  constructor(address: RedisAddress, say: Say) {
    this.#address = address;
    this.#connecting = this.#connect(say);
  }

  /** `away` while there is no connection. */
  get link(): RedisLink | 'away' {
    return this.#link?.away === false ? this.#link : 'away';
  }

  async answers(): Promise<boolean> {
    return (await this.#link?.answers()) ?? false;
  }

  /** The processes and queues of the fleet, or as much of it as Redis returns. */
  async look(closing: AbortSignal): Promise<NonNullable<Health['fleet']>> {
    const { link } = this;
    const away = { redis: this.#address.shown, connected: false, workers: 0, sinks: 0, queues: [] };
    if (link === 'away') return away;
    const signal = AbortSignal.any([closing, AbortSignal.timeout(ANSWER_WITHIN_MS)]);
    try {
      const [workers, sinks, depths] = await Promise.all([
        listPresent(link, 'worker', signal),
        listPresent(link, 'sink', signal),
        readDepths(link, signal),
      ]);
      const queues = depths.map(({ queue, waiting, active }) => ({ queue, waiting, active }));
      return { ...away, connected: true, workers: workers.length, sinks: sinks.length, queues };
    } catch (error) {
      closing.throwIfAborted();
      if (!signal.aborted) throw error;
      return away;
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#connecting;
    this.#link?.close();
  }

  async #connect(say: Say): Promise<void> {
    const { signal } = this.#closing;
    let problem = '';
    while (!signal.aborted && this.#link === null) {
      try {
        this.#link = await RedisLink.open(this.#address, {
          say,
          signal,
          startTimeoutMs: CONNECT_WITHIN_MS,
        });
      } catch (error) {
        if (signal.aborted) return;
        const message = error instanceof Error ? error.message : '';
        if (message !== problem) say(`${message}; trying again`, { level: 'warn', event: 'waiting' });
        problem = message;
        await delay(RETRY_MS, undefined, { signal }).catch(() => {});
      }
    }
  }
}
