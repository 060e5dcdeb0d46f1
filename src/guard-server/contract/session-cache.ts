import { createHash } from 'node:crypto';
import type { Turn } from '../../domain/request.ts';
import { CACHE_USAGE_ORDER, CACHE_USAGE_WIDTH } from '../../guard/tensors/protocol.ts';
import { tokensOfText } from './context-window.ts';

type CacheCount = (typeof CACHE_USAGE_ORDER)[number];

export type CacheCounts = Readonly<Record<CacheCount, number>>;

interface Session {
  /** Digests of the cached turns, from the first of the conversation. */
  readonly turns: readonly string[];
}

/** Capacity of the two tiers, in turns of all sessions. */
interface CacheCapacity {
  readonly l1Turns: number;
  readonly l2Turns: number;
}

const DEFAULT_CACHE_CAPACITY: CacheCapacity = { l1Turns: 32_768, l2Turns: 131_072 };

/**
 * The bookkeeping of a two-tier LRU prefix cache: which turns of which session have been seen. A session evicted from
 * the first tier moves to the second, and from there it is forgotten; none expires. Holds digests of ids and turns, no
 * content, so its size does not depend on theirs. No score depends on it.
 *
 *   unknown ── write ──► first tier ── tier full ──► second tier ── tier full ──► unknown
 *                            ▲                            │
 *                            └────────── write ───────────┘
 */
export class SessionCache {
  readonly #l1: Tier;
  readonly #l2: Tier;
  readonly #totals: Record<CacheCount, number> = {
    messageHits: 0,
    messageMisses: 0,
    tokenHits: 0,
    tokenMisses: 0,
    writes: 0,
    l1Evictions: 0,
    l2Evictions: 0,
  };

  constructor(capacity: CacheCapacity = DEFAULT_CACHE_CAPACITY) {
    this.#l1 = new Tier(capacity.l1Turns);
    this.#l2 = new Tier(capacity.l2Turns);
  }

  /** Sums of the counts of all uses. */
  get totals(): CacheCounts {
    return this.#totals;
  }

  /**
   * Looks a conversation up. Hits are the leading turns (and their tokens) equal to the cached ones. With `write` it is
   * cached and the most recently used; writes are the turns newly cached. Without, nothing changes, not even what is
   * evicted next. Returns the row of CACHE_USAGE.
   */
  use(id: string, messages: readonly Turn[], write: boolean): readonly number[] {
    const session = digest(id);
    const held = this.#l1.get(session) ?? this.#l2.get(session);
    const digests = messages.map(([role, content]) => digest(`${role}\0${content}`));
    let hits = 0;
    while (hits < digests.length && held?.turns[hits] === digests[hits]) hits++;
    const counts: Record<CacheCount, number> = {
      messageHits: hits,
      messageMisses: messages.length - hits,
      tokenHits: 0,
      tokenMisses: 0,
      writes: write ? messages.length - hits : 0,
      l1Evictions: 0,
      l2Evictions: 0,
    };
    messages.forEach(([, content], turn) => {
      counts[turn < hits ? 'tokenHits' : 'tokenMisses'] += tokensOfText(content);
    });
    if (write) this.#keep(session, { turns: digests }, counts);
    const usage = new Array<number>(CACHE_USAGE_WIDTH).fill(0);
    CACHE_USAGE_ORDER.forEach((count, position) => {
      usage[position] = counts[count];
      this.#totals[count] += counts[count];
    });
    return usage;
  }

  #keep(id: string, session: Session, counts: Record<CacheCount, number>): void {
    this.#l2.delete(id);
    for (const [oldId, old] of this.#l1.put(id, session)) {
      counts.l1Evictions++;
      counts.l2Evictions += this.#l2.put(oldId, old).length;
    }
  }
}

class Tier {
  /** By the digest of their id, least recently used first. */
  readonly #sessions = new Map<string, Session>();
  /**
   * The next one to evict. All that it has passed are evicted, and a session that is used again moves to the end. A new
   * iterator would first pass over every place that an evicted session left.
   */
  readonly #oldest = this.#sessions.entries();
  readonly #capacity: number;
  #turns = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get(id: string): Session | undefined {
    return this.#sessions.get(id);
  }

  delete(id: string): void {
    const session = this.#sessions.get(id);
    if (session === undefined) return;
    this.#turns -= session.turns.length;
    this.#sessions.delete(id);
  }

  /** Makes a session the most recently used. Returns the evicted ones: itself, too, if it is too large. */
  put(id: string, session: Session): (readonly [id: string, session: Session])[] {
    this.delete(id);
    this.#sessions.set(id, session);
    this.#turns += session.turns.length;
    const evicted: (readonly [string, Session])[] = [];
    while (this.#turns > this.#capacity) {
      const entry = this.#oldest.next().value!;
      this.delete(entry[0]);
      evicted.push(entry);
    }
    return evicted;
  }
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64').slice(0, 24);
}
