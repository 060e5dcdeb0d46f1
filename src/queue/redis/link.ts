import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { RedisAddress } from '../../config/values/redis-url.ts';
import type { Say } from '../../domain/say.ts';
import { escapeText } from '../../domain/text/escape-text.ts';
import { abortable } from '../../flow/abortable.ts';
import { checkServer } from './check-server.ts';
import { lastingOptions } from './connect-options.ts';
import type { FleetSeal } from './sealing/fleet-seal.ts';

/** Timeout for a ping, in milliseconds. */
const ANSWERS_WITHIN_MS = 1000;

interface RedisLinkOptions {
  /** Prints one line: waiting for Redis at the start; Redis is away; Redis is back. */
  readonly say: Say;
  readonly signal: AbortSignal;
  /** Timeout for the server to become reachable, in milliseconds; default 30 s. */
  readonly startTimeoutMs?: number;
  /** Seals the values stored in Redis; default: plaintext. */
  readonly seal?: FleetSeal | null;
}

/** A process's link to the fleet's Redis: the connection that all its queues share, and its state. */
export class RedisLink {
  readonly address: RedisAddress;
  /** Null in a fleet without a key. */
  readonly seal: FleetSeal | null;
  /** The shared connection, for commands that do not block. */
  readonly redis: Redis;
  readonly #events = new EventEmitter();
  readonly #say: Say;
  readonly #reported = new Set<string>();
  #away = false;
  #closed = false;

  private constructor(address: RedisAddress, { say, seal = null }: RedisLinkOptions) {
    this.address = address;
    this.seal = seal;
    this.#say = say;
    this.redis = new Redis(lastingOptions(address));
    this.#events.setMaxListeners(0);
    // Every queue and worker of the process listens to this connection.
    this.redis.setMaxListeners(0);
    // Every connection error also causes `close`; its message would not help the user.
    this.redis.on('error', () => {});
    this.redis.on('close', () => this.#lost());
    this.redis.on('ready', () => this.#found());
  }

  /** Checks the server (see `checkServer`), then connects. Rejects with the signal's reason when aborted. */
  static async open(address: RedisAddress, options: RedisLinkOptions): Promise<RedisLink> {
    await checkServer(address, options.signal, options.startTimeoutMs, options.say);
    const link = new RedisLink(address, options);
    const ready = new Promise<void>((resolve) => link.redis.once('ready', resolve));
    try {
      await abortable(ready, options.signal);
      return link;
    } catch (error) {
      link.close();
      throw error;
    }
  }

  /** Whether Redis cannot be reached at the moment. */
  get away(): boolean {
    return this.#away;
  }

  /** Whether Redis answers now. A server that hangs keeps its connections. */
  async answers(): Promise<boolean> {
    if (this.#away) return false;
    const ping = this.redis.ping().then(
      () => true,
      () => false,
    );
    return Promise.race([ping, delay(ANSWERS_WITHIN_MS, false, { ref: false })]);
  }

  /** A key below the prefix. */
  key(...parts: readonly (string | number)[]): string {
    return [this.address.prefix, ...parts].join(':');
  }

  /**
   * Reports that the value of a key is skipped, only for the first key of each kind of trouble. `trouble` must not
   * quote the value.
   */
  reportSkipped(key: string, trouble: string): void {
    if (this.#reported.has(trouble)) return;
    this.#reported.add(trouble);
    const fields = { level: 'warn', event: 'redis_key_skipped' } as const;
    this.#say(`Redis key ${escapeText(key)} ${trouble}; such keys are skipped`, fields);
  }

  /** Calls the listener whenever Redis is back, possibly without its data. Returns a function that removes it. */
  onBack(listener: () => void): () => void {
    this.#events.on('back', listener);
    return () => this.#events.off('back', listener);
  }

  /**
   * A separate connection, for blocking commands or to be dropped: BullMQ drops the connection of a worker that does
   * not end. The caller disconnects it.
   */
  newConnection(): Redis {
    const redis = new Redis(lastingOptions(this.address));
    redis.setMaxListeners(0);
    redis.on('error', () => {});
    return redis;
  }

  /** Closes the connection immediately. Idempotent. */
  close(): void {
    this.#closed = true;
    this.redis.disconnect();
  }

  #lost(): void {
    if (this.#away || this.#closed) return;
    this.#away = true;
    const message = `Redis at ${this.address.shown} is unavailable; waiting for it`;
    this.#say(message, { level: 'warn', event: 'redis_away' });
  }

  #found(): void {
    if (!this.#away) return;
    this.#away = false;
    this.#say('Redis is back', { event: 'redis_back' });
    this.#events.emit('back');
  }
}
