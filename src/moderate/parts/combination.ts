import type { Coverage } from '../../domain/coverage.ts';
import type { Judgement } from '../../domain/outcome.ts';
import { WorstPart } from '../../domain/worst-part.ts';

/** Combines the judgements of the parts of one item. The worst part counts. */
export class Combination {
  readonly #worst = new WorstPart<Judgement>();
  #worstAt = 0;
  #parts = 0;
  #fingerprint: string | null | undefined;
  #latencyMs = 0;
  #attempts = 0;
  #moderatedAt = '';

  /** `at`: where in the item the part begins, in the unit of the item's coverage. */
  add(at: number, judgement: Judgement): void {
    if (this.#worst.add(judgement)) this.#worstAt = at;
    if (this.#parts++ === 0) this.#fingerprint = judgement.fingerprint;
    this.#latencyMs = Math.max(this.#latencyMs, judgement.latencyMs);
    this.#attempts = Math.max(this.#attempts, judgement.attempts);
    if (judgement.moderatedAt > this.#moderatedAt) this.#moderatedAt = judgement.moderatedAt;
  }

  /** Of the first part added, null when its guard has none; undefined before that. */
  get fingerprint(): string | null | undefined {
    return this.#fingerprint;
  }

  /**
   * The item's judgement: scores, categories and endpoint of the worst part, flagged if any part is, the longest
   * latency, the most attempts and the latest time. Null without a part.
   */
  judgement(covered: Omit<Coverage, 'worst_at'>): Judgement | null {
    const worst = this.#worst.combined;
    if (worst === null) return null;
    return {
      ...worst,
      latencyMs: this.#latencyMs,
      attempts: this.#attempts,
      moderatedAt: this.#moderatedAt,
      coverage: { ...covered, worst_at: this.#parts === 1 ? null : this.#worstAt },
    };
  }
}
