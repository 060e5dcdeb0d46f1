import { DECISIONS, type Decision, type OutcomeLine } from '../../../domain/outcome.ts';
import type { Policy } from '../../../domain/policy.ts';
import { CATEGORY_KEYS, type CategoryKey } from '../../../domain/taxonomy.ts';
import type { ScoreSpread } from '../report-data.ts';

const SCORE_BINS = 50;
const CATEGORY_BINS = 25;

/** Counts verdicts by score. */
export class ScoreTally {
  readonly #decisions: Readonly<Record<Decision, Float64Array>> = {
    allow: new Float64Array(SCORE_BINS),
    review: new Float64Array(SCORE_BINS),
    block: new Float64Array(SCORE_BINS),
  };
  readonly #categories = new Map<CategoryKey, Float64Array>();

  add({ score, decision, subcategory_scores: scores }: OutcomeLine): void {
    if (score === null || decision === null) return;
    this.#decisions[decision][binOf(score, SCORE_BINS)]! += 1;
    if (scores === null) return;
    for (const key in scores) {
      const category = key as CategoryKey;
      let bins = this.#categories.get(category);
      if (bins === undefined) this.#categories.set(category, (bins = new Float64Array(CATEGORY_BINS)));
      bins[binOf(scores[category]!, CATEGORY_BINS)]! += 1;
    }
  }

  spread({ thresholds }: Policy): ScoreSpread {
    const limits = (key: CategoryKey | 'default'): Pick<ScoreSpread, 'review' | 'block'> => {
      const { review = null, block = null } = thresholds?.[key] ?? thresholds?.default ?? {};
      return { review, block };
    };
    return {
      decisions: Object.fromEntries(
        DECISIONS.map((decision) => [decision, [...this.#decisions[decision]]]),
      ) as unknown as ScoreSpread['decisions'],
      categories: CATEGORY_KEYS.filter((key) => this.#categories.has(key)).map((category) => ({
        category,
        bins: [...this.#categories.get(category)!],
        ...limits(category),
      })),
      ...limits('default'),
    };
  }
}

function binOf(score: number, bins: number): number {
  return Math.min(bins - 1, Math.floor(score * bins));
}
