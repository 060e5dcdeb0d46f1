import type { Decision } from '../../domain/outcome.ts';
import type { CACHE_USAGE_ORDER } from '../../guard/tensors/protocol.ts';
import type { ConversationLine } from '../outcomes/conversations.ts';

/** Sums of CACHE_USAGE over the turns whose verdict has it. */
export interface CacheCounts {
  readonly message_hits: number;
  readonly message_misses: number;
  readonly token_hits: number;
  readonly token_misses: number;
  readonly writes: number;
  readonly l1_evictions: number;
  readonly l2_evictions: number;
}

/** The conversations of a run that were judged at every turn. */
export interface ConversationCounts {
  readonly conversations: number;
  readonly by_decision: Readonly<Record<Decision, number>>;
  /** Without a decision: a turn was not judged, and none was flagged. */
  readonly undecided: number;
  /** The turn that tipped the conversations that are not `allow`, by nearest rank; null when there are none. */
  readonly tipped_at: { readonly median: number; readonly p90: number } | null;
  /** Null if no verdict has cache statistics. */
  readonly cache: CacheCounts | null;
}

/** Later turns are counted as this one, which bounds the table. */
const MAX_TURN = 10_000;

/** Adds up the conversations of a run. */
export class ConversationTally {
  #conversations = 0;
  #undecided = 0;
  readonly #decisions: Record<Decision, number> = { allow: 0, review: 0, block: 0 };
  /** How often each turn tipped a conversation. */
  readonly #tipped = new Map<number, number>();

  add({ decision, tipped_by }: ConversationLine): void {
    this.#conversations++;
    if (decision === null) this.#undecided++;
    else this.#decisions[decision]++;
    if (tipped_by === null) return;
    const turn = Math.min(tipped_by.turn, MAX_TURN);
    this.#tipped.set(turn, (this.#tipped.get(turn) ?? 0) + 1);
  }

  /** `cache`: sums of CACHE_USAGE, null if no verdict has it. Undefined for a run without such conversations. */
  counts(cache: Readonly<Record<string, number>> | null): ConversationCounts | undefined {
    if (this.#conversations === 0) return undefined;
    const { allow, review, block } = this.#decisions;
    return {
      conversations: this.#conversations,
      by_decision: { allow, review, block },
      undecided: this.#undecided,
      tipped_at: this.#tippedAt(),
      cache: cache && cacheCounts(cache),
    };
  }

  #tippedAt(): ConversationCounts['tipped_at'] {
    const turns = [...this.#tipped].sort(([one], [other]) => one - other);
    const all = turns.reduce((sum, [, times]) => sum + times, 0);
    const ranked = (rank: number): number => {
      let left = Math.ceil(all * rank);
      return turns.find(([, times]) => (left -= times) <= 0)![0];
    };
    return all === 0 ? null : { median: ranked(0.5), p90: ranked(0.9) };
  }
}

function cacheCounts(sums: Readonly<Record<string, number>>): CacheCounts {
  const of = (name: (typeof CACHE_USAGE_ORDER)[number]): number => sums[name] ?? 0;
  return {
    message_hits: of('messageHits'),
    message_misses: of('messageMisses'),
    token_hits: of('tokenHits'),
    token_misses: of('tokenMisses'),
    writes: of('writes'),
    l1_evictions: of('l1Evictions'),
    l2_evictions: of('l2Evictions'),
  };
}
