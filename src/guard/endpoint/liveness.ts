import type { OutReason } from '../protocol/call-error.ts';
import type { CanaryResult } from '../protocol/canary.ts';

/**
 * Whether the guard judges other content. `unclear`: the test was caught in trouble that may be another request's.
 */
export type Proof =
  | { readonly kind: 'alive' | 'unclear' }
  | { readonly kind: 'dead'; readonly reason: OutReason; readonly fatal: boolean; readonly reached: boolean };

/** Tells an item that the guard cannot judge from a guard that judges nothing. */
export class Liveness {
  readonly #tryHarmlessText: () => Promise<CanaryResult>;
  #underWay: Promise<CanaryResult> | null = null;
  #successes = 0;
  #latestSentAt = Number.NEGATIVE_INFINITY;
  #doubted = false;

  constructor(tryHarmlessText: () => Promise<CanaryResult>) {
    this.#tryHarmlessText = tryHarmlessText;
  }

  /** Requests answered by the guard with verdicts, or with a refusal it gave a reason for. */
  get successes(): number {
    return this.#successes;
  }

  /** Something was judged, which was sent at `sentAt` (by `performance.now()`) unless it was the harmless text. */
  succeeded(sentAt = Number.NEGATIVE_INFINITY): void {
    this.#successes++;
    this.#latestSentAt = Math.max(this.#latestSentAt, sentAt);
    this.#doubted = false;
  }

  /** Whether something has been answered that was sent later: then a request of that time did not just wait its turn. */
  overtook(sentAt: number): boolean {
    return this.#latestSentAt > sentAt;
  }

  /**
   * Whether nothing has been answered since a request ran out of time. The guard may still be working on it, although
   * its call has ended, and what is sent now would wait behind it.
   */
  get doubted(): boolean {
    return this.#doubted;
  }

  /** A request was not answered in time. */
  timedOut(): void {
    this.#doubted = true;
  }

  /**
   * Alive if there was a success since there were `successes`; else a harmless text decides, one for all who ask
   * while it is under way. `alone`: nothing else is in flight, so that whatever fails the text is the guard's doing.
   * Rejects when the test is aborted.
   */
  async since(successes: number, alone: boolean): Promise<Proof> {
    if (this.#successes > successes) return { kind: 'alive' };
    this.#underWay ??= this.#tryHarmlessText().finally(() => (this.#underWay = null));
    const result = await this.#underWay;
    if (this.#successes > successes) return { kind: 'alive' };
    if (result.kind !== 'failed') this.#doubted = false;
    switch (result.kind) {
      case 'judged':
        return { kind: 'alive' };
      case 'overloaded':
        return { kind: 'unclear' };
      case 'shared-failure':
        return alone
          ? { kind: 'dead', reason: 'fails on harmless text', fatal: false, reached: false }
          : { kind: 'unclear' };
      case 'failed':
        return { ...result, kind: 'dead' };
    }
  }
}
