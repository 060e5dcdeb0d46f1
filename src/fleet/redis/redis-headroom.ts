import { type Memory, readMemory } from './memory.ts';
import type { RedisLink } from '../../queue/redis/link.ts';

/**
 * Feeders fill a server up to this share. The rest is for results: a full server accepts no results, and lets no worker
 * take a shard, so that nothing would ever make room again.
 */
const FED_SHARE = 0.5;
/** A reading is used for this long, in milliseconds, and for this many bytes that were fed since. */
const READING_LASTS_MS = 250;
const READING_LASTS_BYTES = 1024 * 1024;

/** Tells a feeder whether Redis has room for more shards. */
export class RedisHeadroom {
  readonly #link: RedisLink;
  #reading: Memory = { usedBytes: 0, maxBytes: null };
  #readAt = Number.NEGATIVE_INFINITY;
  #fedSince = 0;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  /** Whether there is room for this many more bytes; if so, they count as fed. */
  async hasRoom(bytes: number, signal: AbortSignal): Promise<boolean> {
    if (performance.now() - this.#readAt > READING_LASTS_MS || this.#fedSince > READING_LASTS_BYTES) {
      this.#reading = await readMemory(this.#link, signal);
      this.#readAt = performance.now();
      this.#fedSince = 0;
    }
    const { usedBytes, maxBytes } = this.#reading;
    if (maxBytes !== null && usedBytes + this.#fedSince + bytes > maxBytes * FED_SHARE) return false;
    this.#fedSince += bytes;
    return true;
  }
}
