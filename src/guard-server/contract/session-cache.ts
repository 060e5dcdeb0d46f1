import { createHash } from 'node:crypto';
import type { Turn } from '../../domain/request.ts';
import { CACHE_USAGE_ORDER, CACHE_USAGE_WIDTH } from '../../guard/tensors/protocol.ts';
import { tokensOfText } from './context-window.ts';

type CacheCount = (typeof CACHE_USAGE_ORDER)[number];

export type CacheCounts = Readonly<Record<CacheCount, number>>;

const DEFAULT_MAX_TURNS = 131_072;

/**
 * Bookkeeping of an LRU prefix cache: which turns of which session have been seen. The guard on a GPU has a second tier
 * in main memory; here there is only one, so `l2Evictions` is always 0. Sessions do not expire. The cache stores
 * digests of ids and turns instead of content, so its size does not depend on theirs. No score depends on it.
 */
export class SessionCache {
  /** Digests of the turns by the digest of the session's id, least recently used first. */
  readonly #sessions = new Map<string, readonly string[]>();
  readonly #maxTurns: number;
  #turns = 0;
  readonly #totals: Record<CacheCount, number> = {
    messageHits: 0,
    messageMisses: 0,
    tokenHits: 0,
    tokenMisses: 0,
    writes: 0,
    l1Evictions: 0,
    l2Evictions: 0,
  };

  /** `maxTurns` is the total number of turns over all sessions. */
  constructor(maxTurns = DEFAULT_MAX_TURNS) {
    this.#maxTurns = maxTurns;
  }

  /** Sums of the counts of all uses. */
  get totals(): CacheCounts {
    return this.#totals;
  }

  /**
   * Looks up a conversation. Hits are the leading turns (and their tokens) equal to the cached ones. With `write`, the
   * conversation is cached and becomes the most recently used one; writes are the newly cached turns. Without `write`,
   * nothing changes, including the eviction order. Returns the row of CACHE_USAGE.
   */
  use(id: string, messages: readonly Turn[], write: boolean): readonly number[] {
    const session = digest(id);
    const cached = this.#sessions.get(session) ?? [];
    const turns = messages.map(([role, content]) => digest(`${role}\0${content}`));
    let hits = 0;
    while (hits < turns.length && cached[hits] === turns[hits]) hits++;
    const counts: Record<CacheCount, number> = {
      messageHits: hits,
      messageMisses: messages.length - hits,
      tokenHits: 0,
      tokenMisses: 0,
      writes: write ? messages.length - hits : 0,
      l1Evictions: write ? this.#write(session, turns) : 0,
      l2Evictions: 0,
    };
    messages.forEach(([, content], turn) => {
      counts[turn < hits ? 'tokenHits' : 'tokenMisses'] += tokensOfText(content);
    });
    const usage = new Array<number>(CACHE_USAGE_WIDTH).fill(0);
    CACHE_USAGE_ORDER.forEach((count, position) => {
      usage[position] = counts[count];
      this.#totals[count] += counts[count];
    });
    return usage;
  }

  /** Caches a session. Returns the number of evicted sessions, including this one if it is too large. */
  #write(session: string, turns: readonly string[]): number {
    this.#delete(session);
    this.#sessions.set(session, turns);
    this.#turns += turns.length;
    let evicted = 0;
    for (const oldest of this.#sessions.keys()) {
      if (this.#turns <= this.#maxTurns) break;
      this.#delete(oldest);
      evicted++;
    }
    return evicted;
  }

  #delete(session: string): void {
    this.#turns -= this.#sessions.get(session)?.length ?? 0;
    this.#sessions.delete(session);
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64').slice(0, 24);
}
