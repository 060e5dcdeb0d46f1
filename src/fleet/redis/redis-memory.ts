import type { RedisLink } from '../../queue/redis/link.ts';
import { retryWhileTransient } from '../../queue/redis/retry-while-transient.ts';

/** Memory use of a Redis server. */
export interface Memory {
  readonly usedBytes: number;
  /** `maxmemory`; null if unlimited. */
  readonly maxBytes: number | null;
}

/** Reads a server's memory use. At `maxBytes` the server refuses commands that need more. */
export async function readMemory(link: RedisLink, signal: AbortSignal): Promise<Memory> {
  const info = await retryWhileTransient(() => link.redis.info('memory'), signal);
  const maxBytes = valueOf(info, 'maxmemory');
  return { usedBytes: valueOf(info, 'used_memory'), maxBytes: maxBytes === 0 ? null : maxBytes };
}

function valueOf(info: string, name: string): number {
  return Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1] ?? 0);
}

/**
 * Feeders use up to this fraction of `maxmemory`. The rest is for results: a full server accepts no results and lets no
 * worker take a shard, so the fleet would be deadlocked.
 */
const MAX_FED_SHARE = 0.5;
/** A reading is reused for at most this time, in milliseconds, and at most this number of bytes fed since then. */
const READING_LASTS_MS = 250;
const READING_LASTS_BYTES = 1024 * 1024;

/** Checks for a feeder whether Redis has room for more shards. */
export class RedisHeadroom {
  readonly #link: RedisLink;
  #reading: Memory = { usedBytes: 0, maxBytes: null };
  #readAt = Number.NEGATIVE_INFINITY;
  #fedSince = 0;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  /** Whether there is room for another `bytes`; if so, they count as fed. */
  async hasRoom(bytes: number, signal: AbortSignal): Promise<boolean> {
    if (performance.now() - this.#readAt > READING_LASTS_MS || this.#fedSince > READING_LASTS_BYTES) {
      this.#reading = await readMemory(this.#link, signal);
      this.#readAt = performance.now();
      this.#fedSince = 0;
    }
    const { usedBytes, maxBytes } = this.#reading;
    if (maxBytes !== null && usedBytes + this.#fedSince + bytes > maxBytes * MAX_FED_SHARE) return false;
    this.#fedSince += bytes;
    return true;
  }
}
