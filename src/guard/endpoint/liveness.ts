import type { OutReason } from '../protocol/call-error.ts';
import type { CanaryResult } from '../protocol/canary.ts';

/** Whether the guard judges other content. `unclear`: the test failed, but another request may be the cause. */
export type Proof =
  | { readonly kind: 'alive' | 'unclear' }
  | { readonly kind: 'dead'; readonly reason: OutReason; readonly fatal: boolean; readonly reached: boolean };

/** Tells apart an item that the guard cannot judge and a guard that judges nothing. */
export class Liveness {
  readonly #tryHarmlessText: () => Promise<CanaryResult>;
  #running: Promise<CanaryResult> | null = null;
  #successes = 0;
  #latestSentAt = Number.NEGATIVE_INFINITY;
  #doubted = false;

  constructor(tryHarmlessText: () => Promise<CanaryResult>) {
    this.#tryHarmlessText = tryHarmlessText;
  }

  /** Requests answered with verdicts or with a refusal that names its reason, and harmless texts judged. */
  get successes(): number {
    return this.#successes;
  }

  /** The guard judged a request sent at `sentAt` (by `performance.now()`), or the harmless text when left out. */
  succeeded(sentAt = Number.NEGATIVE_INFINITY): void {
    this.#successes++;
    this.#latestSentAt = Math.max(this.#latestSentAt, sentAt);
    this.#doubted = false;
  }

  /** Whether a later request has been answered: then one sent at `sentAt` is not just waiting in the guard's queue. */
  overtook(sentAt: number): boolean {
    return this.#latestSentAt > sentAt;
  }

  /**
   * Whether nothing has been answered since a request timed out. The guard may still be working on that request although
   * its call has ended, and anything sent now would wait behind it.
   */
  get doubted(): boolean {
    return this.#doubted;
  }

  timedOut(): void {
    this.#doubted = true;
  }

  /**
   * Alive if there were more than `successes` successes; else a harmless text decides, and concurrent calls share one.
   * `alone`: nothing else is in flight, so a failure of the text is the guard's own. Rejects when the test is aborted.
   */
  async since(successes: number, alone: boolean): Promise<Proof> {
    if (this.#successes > successes) return { kind: 'alive' };
    this.#running ??= this.#tryHarmlessText().finally(() => (this.#running = null));
    const result = await this.#running;
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
