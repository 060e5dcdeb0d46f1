import type { OutcomeLine } from '../../domain/outcome.ts';
import type { Policy } from '../../domain/policy.ts';
import { CATEGORY_KEYS, isCategoryKey } from '../../domain/taxonomy.ts';

/** Stands for items in the queue without a category. */
export const WITHOUT_CATEGORY = 'without_category';

/**
 * Counts the review queue by category. An item is there for each category that the guard flagged or whose score is at or
 * above a threshold of the policy; so it may count several times.
 */
export class QueueTally {
  readonly #policy: Policy;
  readonly #counts = new Map<string, number>();

  constructor(policy: Policy) {
    this.#policy = policy;
  }

  add({ subcategory_scores: scores, subcategory_flags: flags }: OutcomeLine): void {
    const { thresholds } = this.#policy;
    let isAny = false;
    for (const key of CATEGORY_KEYS) {
      const lowest = thresholds?.[key] ?? thresholds?.default;
      const limit = lowest?.review ?? lowest?.block ?? Infinity;
      if (flags?.includes(key) !== true && !((scores?.[key] ?? -1) >= limit)) continue;
      isAny = true;
      this.#count(key);
    }
    if (flags?.some((flag) => !isCategoryKey(flag)) === true) {
      isAny = true;
      this.#count('other_categories');
    }
    if (!isAny) this.#count(WITHOUT_CATEGORY);
  }

  of(category: string): number {
    return this.#counts.get(category) ?? 0;
  }

  #count(category: string): void {
    this.#counts.set(category, (this.#counts.get(category) ?? 0) + 1);
  }
}
