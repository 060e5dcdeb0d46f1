import type { Coverage } from '../../domain/item.ts';
import type { Judgement } from '../../domain/outcome.ts';
import { hasFloor } from '../../domain/policy.ts';
import { isCategoryKey, OTHER_CATEGORIES } from '../../domain/taxonomy.ts';

/** Categories beyond the taxonomy that are kept by name: each of thousands of parts may flag others. */
const MAX_UNKNOWN_CATEGORIES = 20;

/** What the parts of one item add up to. The worst counts: the one with the highest score, of equal ones the first. */
export class Combination {
  #worst: Judgement | null = null;
  #worstAt = 0;
  #parts = 0;
  #flagged = false;
  #latencyMs = 0;
  #attempts = 0;
  #moderatedAt = '';
  /** Flags that alone raise a decision, whichever part they are of. */
  readonly #floorFlags = new Set<string>();
  #unknownFlags = 0;

  /** `at`: where in the item the part begins, in the unit of the item's coverage. */
  add(at: number, judgement: Judgement): void {
    this.#parts++;
    if (this.#worst === null || judgement.score > this.#worst.score) {
      this.#worst = judgement;
      this.#worstAt = at;
    }
    this.#flagged ||= judgement.flagged;
    this.#latencyMs = Math.max(this.#latencyMs, judgement.latencyMs);
    this.#attempts = Math.max(this.#attempts, judgement.attempts);
    if (judgement.moderatedAt > this.#moderatedAt) this.#moderatedAt = judgement.moderatedAt;
    for (const key of judgement.subcategoryFlags ?? []) {
      if (hasFloor(key) || !judgement.flagged) this.#addFloorFlag(key);
    }
  }

  #addFloorFlag(key: string): void {
    if (this.#floorFlags.has(key)) return;
    if (!isCategoryKey(key) && this.#unknownFlags++ >= MAX_UNKNOWN_CATEGORIES) {
      this.#floorFlags.add(OTHER_CATEGORIES);
    } else this.#floorFlags.add(key);
  }

  /** Of the first part added; undefined before that. Null when its guard has none. */
  get fingerprint(): string | null | undefined {
    return this.#worst?.fingerprint;
  }

  /**
   * The item's judgement: scores, categories and endpoint of the worst part, flagged if any part is, the longest
   * latency, the most attempts and the latest time. Null without a part.
   */
  judgement(covered: Omit<Coverage, 'worst_at'>): Judgement | null {
    const worst = this.#worst;
    if (worst === null) return null;
    const flags = worst.subcategoryFlags ?? [];
    const missing = [...this.#floorFlags].filter((key) => !flags.includes(key));
    return {
      ...worst,
      flagged: this.#flagged,
      subcategoryFlags: missing.length === 0 ? worst.subcategoryFlags : [...flags, ...missing],
      latencyMs: this.#latencyMs,
      attempts: this.#attempts,
      moderatedAt: this.#moderatedAt,
      coverage: { ...covered, worst_at: this.#parts === 1 ? null : this.#worstAt },
    };
  }
}
