import { EventEmitter } from 'node:events';
import { Redis } from 'ioredis';
import type { RedisAddress } from '../../config/values/redis-url.ts';
import { escapeText } from '../../domain/text/escape-text.ts';
import { abortable } from '../../flow/abortable.ts';
import { checkServer } from './check-server.ts';
import { lastingOptions } from './connect-options.ts';
import type { FleetSeal } from './sealing/fleet-seal.ts';

interface RedisLinkOptions {
  /** Prints one line: waiting for Redis at the start; Redis is away; Redis is back. */
  readonly say: (message: string) => void;
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
  /** Reports malformed keys in Redis. */
  readonly skipped: SkippedKeys;
  readonly #events = new EventEmitter();
  readonly #say: (message: string) => void;
  #away = false;
  #closed = false;

  private constructor(address: RedisAddress, { say, seal = null }: RedisLinkOptions) {
    this.address = address;
    this.seal = seal;
    this.#say = say;
    this.skipped = new SkippedKeys(say);
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

  /** A key below the prefix. */
  key(...parts: readonly (string | number)[]): string {
    return [this.address.prefix, ...parts].join(':');
  }

  /** Calls the listener whenever Redis is back, possibly without its data. Returns a function that removes it. */
  onBack(listener: () => void): () => void {
    this.#events.on('back', listener);
    return () => this.#events.off('back', listener);
  }

  /**
   * A separate connection, for blocking commands or to be dropped: BullMQ drops the connection of a worker that does not
   * end. The caller disconnects it.
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
    this.#say(`Redis at ${this.address.shown} is unavailable; waiting for it`);
  }

  #found(): void {
    if (!this.#away) return;
    this.#away = false;
    this.#say('Redis is back');
    this.#events.emit('back');
  }
}

/** Max keys that are reported by name: malformed keys in Redis must not flood the log. */
const MAX_NAMED = 32;

/** Reports malformed keys in Redis: each key once, up to MAX_NAMED keys. */
class SkippedKeys {
  readonly #say: (message: string) => void;
  readonly #named = new Set<string>();

  constructor(say: (message: string) => void) {
    this.#say = say;
  }

  /** `what` must not quote the value. */
  skip(key: string, what: string): void {
    if (this.#named.has(key) || this.#named.size > MAX_NAMED) return;
    this.#named.add(key);
    this.#say(
      this.#named.size > MAX_NAMED
        ? 'Redis: more keys are malformed; they are skipped without a message'
        : `Redis key ${escapeText(key)}: ${what}`,
    );
  }
}
