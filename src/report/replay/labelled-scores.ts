import type { OutcomeLine } from '../../domain/outcome.ts';
import { CATEGORY_KEYS, type CategoryKey } from '../../domain/taxonomy.ts';
import type { Labels } from './labels.ts';
import { atThreshold, bestThreshold, type AtThreshold, type Minimums } from './thresholds.ts';

/** Thresholds of the curve: 0.05, 0.1, … 0.95. */
const CURVE = Array.from({ length: 19 }, (_, index) => (index + 1) / 20);

/** What is asked of a threshold. */
export type Wanted = Minimums;

/** How well the scores of one kind, overall or of a category, fit the labels. */
export interface ScoreResult {
  /** `score`, or the key of a category. */
  readonly score: string;
  /** Verdicts by label. */
  readonly labelled: { readonly true: number; readonly false: number };
  /** Those without a score for the category: what is said of them is from the worst to the best that is possible. */
  readonly without_score: { readonly true: number; readonly false: number };
  readonly curve: readonly AtThreshold[];
  readonly best_f1: AtThreshold | null;
  /** The best threshold that reaches what is wanted; null if none does, or nothing is wanted. */
  readonly wanted: AtThreshold | null;
}

export interface LabelResult {
  readonly labels: number;
  /** Labels of no item of the run. */
  readonly unmatched: number;
  readonly contradictions: number;
  /** Labelled items that ended in an error. */
  readonly without_verdict: number;
  readonly minimums: Wanted;
  readonly scores: readonly ScoreResult[];
}

interface Collected {
  readonly positive: number[];
  readonly negative: number[];
  unknownPositive: number;
  unknownNegative: number;
}

/** Collects the scores of labelled items. */
export class LabelledScores {
  readonly #labels: Labels;
  readonly #byCategory = new Map<CategoryKey | null, Collected>();
  #withoutVerdict = 0;

  constructor(labels: Labels) {
    this.#labels = labels;
  }

  add(line: OutcomeLine): void {
    const labels = this.#labels.of(line);
    if (labels.length > 0 && line.score === null) this.#withoutVerdict++;
    for (const label of labels) {
      label.isMatched = true;
      if (line.score === null) continue;
      const { category, isPositive } = label;
      const of = this.#of(category);
      const score = category === null ? line.score : line.subcategory_scores?.[category];
      if (score !== undefined) (isPositive ? of.positive : of.negative).push(score);
      else if (isPositive) of.unknownPositive++;
      else of.unknownNegative++;
    }
  }

  result(minimums: Wanted): LabelResult {
    const isWanted = minimums.precision !== null || minimums.recall !== null;
    const scores: ScoreResult[] = [];
    for (const category of [null, ...CATEGORY_KEYS]) {
      const of = this.#byCategory.get(category);
      if (of === undefined) continue;
      scores.push({
        score: category ?? 'score',
        labelled: {
          true: of.positive.length + of.unknownPositive,
          false: of.negative.length + of.unknownNegative,
        },
        without_score: { true: of.unknownPositive, false: of.unknownNegative },
        curve: CURVE.map((threshold) => atThreshold(of, threshold)),
        best_f1: bestThreshold(of, { precision: null, recall: null }),
        wanted: isWanted ? bestThreshold(of, minimums) : null,
      });
    }
    return {
      labels: this.#labels.all.length,
      unmatched: this.#labels.all.filter(({ isMatched }) => !isMatched).length,
      contradictions: this.#labels.contradictions,
      without_verdict: this.#withoutVerdict,
      minimums,
      scores,
    };
  }

  #of(category: CategoryKey | null): Collected {
    const known = this.#byCategory.get(category);
    if (known !== undefined) return known;
    const made = { positive: [], negative: [], unknownPositive: 0, unknownNegative: 0 };
    this.#byCategory.set(category, made);
    return made;
  }
}
