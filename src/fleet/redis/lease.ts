import { endInTime } from '../../queue/redis/key-end.ts';
import { readText, type Unread } from '../../queue/redis/keys/read-value.ts';
import type { RedisLink } from '../../queue/redis/link.ts';
import { retryWhileTransient } from '../../queue/redis/retry-while-transient.ts';

/** Giving a lease up may take so long, in milliseconds; then it runs out by itself. */
const RELEASE_MS = 2000;

/**
 * A right that one process has at a time, as long as it renews it. A matter of politeness: it can be lost with
 * Redis, so what must not happen twice is secured by epochs.
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

  /** Takes or renews the lease; gives whether this process has it now. */
  async take(signal: AbortSignal): Promise<boolean> {
    const { redis } = this.#link;
    const taken = await retryWhileTransient(
      () => redis.set(this.#key, this.#holder, 'PX', this.#lastsMs, 'NX'),
      signal,
    );
    if (taken === 'OK') return true;
    if (holderOf(await readText(this.#link, this.#key, signal)) !== this.#holder) {
      await endInTime(this.#link, this.#key, this.#lastsMs, signal);
      return false;
    }
    await retryWhileTransient(() => redis.pexpire(this.#key, this.#lastsMs), signal);
    return true;
  }

  /** Gives the lease up, if this process has it. */
  async release(): Promise<void> {
    if (this.#link.away) return;
    const signal = AbortSignal.timeout(RELEASE_MS);
    try {
      const holder = holderOf(await readText(this.#link, this.#key, signal));
      if (holder === this.#holder) await retryWhileTransient(() => this.#link.redis.del(this.#key), signal);
    } catch {
      // It runs out by itself.
    }
  }
}

/** Who has a lease; null when nobody does that can be told. */
export async function leaseHolder(
  link: RedisLink,
  name: string,
  signal: AbortSignal,
): Promise<string | null> {
  return holderOf(await readText(link, link.key('lease', name), signal));
}

function holderOf(read: { readonly text: string } | Unread): string | null {
  return typeof read === 'string' ? null : read.text;
}
