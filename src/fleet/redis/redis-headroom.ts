import { type Memory, readMemory } from './memory.ts';
import type { RedisLink } from '../../queue/redis/link.ts';

/**
 * A server is filled up to this share by what is fed. The rest is for what becomes of it: a server that is full takes
 * no result either, nor lets anybody take a shard, so that nothing would make room again.
 */
const FED_SHARE = 0.5;
/** A reading counts for so long, in milliseconds, and for so many bytes that were fed since. */
const READING_LASTS_MS = 250;
const READING_LASTS_BYTES = 1024 * 1024;

/** Tells a feeder when Redis is as full as feeding may make it. */
export class RedisHeadroom {
  readonly #link: RedisLink;
  #reading: Memory = { usedBytes: 0, mostBytes: null };
  #readAt = Number.NEGATIVE_INFINITY;
  #fedSince = 0;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  /** Whether there is room for so many bytes more, which then count as fed. */
  async hasRoom(bytes: number, signal: AbortSignal): Promise<boolean> {
    if (performance.now() - this.#readAt > READING_LASTS_MS || this.#fedSince > READING_LASTS_BYTES) {
      this.#reading = await readMemory(this.#link, signal);
      this.#readAt = performance.now();
      this.#fedSince = 0;
    }
    const { usedBytes, mostBytes } = this.#reading;
    if (mostBytes !== null && usedBytes + this.#fedSince + bytes > mostBytes * FED_SHARE) return false;
    this.#fedSince += bytes;
    return true;
  }
}
