import type { OutReason } from './call-error.ts';
import type { CanaryResult } from './canary.ts';

/**
 * Whether the guard judges other content. `unclear`: the test was caught in trouble that may be another request's.
 */
export type Proof =
  | { readonly kind: 'alive' | 'unclear' }
  | { readonly kind: 'dead'; readonly reason: OutReason; readonly fatal: boolean };

/** Tells an item that the guard cannot judge from a guard that judges nothing. */
export class ProofOfLife {
  readonly #tryHarmlessText: () => Promise<CanaryResult>;
  #underWay: Promise<CanaryResult> | null = null;
  #successes = 0;

  constructor(tryHarmlessText: () => Promise<CanaryResult>) {
    this.#tryHarmlessText = tryHarmlessText;
  }

  /** Requests answered by the guard with verdicts, or with a refusal it gave a reason for. */
  get successes(): number {
    return this.#successes;
  }

  succeeded(): void {
    this.#successes++;
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
    switch (result.kind) {
      case 'judged':
        return { kind: 'alive' };
      case 'overloaded':
        return { kind: 'unclear' };
      case 'shared-failure':
        return alone ? { kind: 'dead', reason: 'fails on harmless text', fatal: false } : { kind: 'unclear' };
      case 'failed':
        return { kind: 'dead', reason: result.reason, fatal: result.fatal };
    }
  }
}
