import type { RedisLink } from '../../queue/redis/link.ts';
import { retryWhileTransient } from '../../queue/redis/retry-while-transient.ts';

/** Timeout for releasing a lease, in milliseconds; after that it expires. */
const RELEASE_MS = 2000;

/**
 * A lease that one process at a time holds and renews. It is advisory: Redis can lose it, so epochs protect anything
 * that must not happen twice.
 */
export class Lease {
  readonly #link: RedisLink;
  readonly #key: string;
  readonly #holder: string;
  readonly #lastsMs: number;

  constructor(link: RedisLink, name: string, holder: string, lastsMs: number) {
    this.#link = link;
    this.#key = link.key('lease', name);
    this.#holder = holder;
    this.#lastsMs = lastsMs;
  }

  /** Takes or renews the lease; returns whether this process holds it now. */
  async take(signal: AbortSignal): Promise<boolean> {
    const { redis } = this.#link;
    const taken = await retryWhileTransient(
      () => redis.set(this.#key, this.#holder, 'PX', this.#lastsMs, 'NX'),
      signal,
    );
    if (taken === 'OK') return true;
    if ((await readHolder(this.#link, this.#key, signal)) !== this.#holder) return false;
    await retryWhileTransient(() => redis.pexpire(this.#key, this.#lastsMs), signal);
    return true;
  }

  /** Releases the lease, if this process holds it. */
  async release(): Promise<void> {
    if (this.#link.away) return;
    const signal = AbortSignal.timeout(RELEASE_MS);
    try {
      const holder = await readHolder(this.#link, this.#key, signal);
      if (holder === this.#holder) await retryWhileTransient(() => this.#link.redis.del(this.#key), signal);
    } catch {
      // The lease will expire.
    }
  }
}

/** Returns the holder of a lease; null if there is none. */
export function leaseHolder(link: RedisLink, name: string, signal: AbortSignal): Promise<string | null> {
  return readHolder(link, link.key('lease', name), signal);
}

function readHolder(link: RedisLink, key: string, signal: AbortSignal): Promise<string | null> {
  return retryWhileTransient(() => link.redis.get(key), signal);
}
