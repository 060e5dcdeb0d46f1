import {
  ENTRY_CATEGORIES,
  RESULTS,
  type FingerprintNumbers,
  type Outcome,
  type Result,
} from './outcome-entry.ts';
import type { Pair } from './pair-outcomes.ts';
import { ScoreShifts, type ScoreShift } from './score-shifts.ts';

/** Pairs of fingerprints that are counted apart. */
const MAX_FINGERPRINT_PAIRS = 1000;

/** How two runs differ on the items of equal content. */
export interface DiffCounts {
  /** Items of one run with an item of the other that has the same content. */
  readonly pairs: number;
  /** Pairs by what run A and then run B came to. */
  readonly results: Readonly<Record<Result, Readonly<Record<Result, number>>>>;
  /** Pairs that the guard flagged in run B only. */
  readonly newly_flagged: number;
  /** Pairs that the guard flagged in run A only. */
  readonly cleared: number;
  /** Pairs that were flagged in both runs, but not for the same categories; and which ones came and went. */
  readonly category_moved: {
    readonly pairs: number;
    readonly by_category: readonly {
      readonly category: string;
      readonly gained: number;
      readonly lost: number;
    }[];
  };
  readonly errors: {
    readonly error_to_verdict: number;
    readonly verdict_to_error: number;
    /** Errors in both runs, with different codes. */
    readonly other_code: number;
  };
  readonly score_shift: ScoreShift;
  /** Pairs of verdicts, by the models that judged. */
  readonly by_fingerprint: readonly {
    readonly a: string | null;
    readonly b: string | null;
    readonly pairs: number;
    readonly newly_flagged: number;
    readonly cleared: number;
    readonly mean_shift: number;
  }[];
}

/** In what a pair differs. */
export type Difference = 'newly_flagged' | 'cleared' | 'category_moved' | 'decision' | 'error';

/** In what the outcomes of a pair differ, besides the score. */
export function differencesOf(a: Outcome, b: Outcome): readonly Difference[] {
  if (a.result === 'error' || b.result === 'error') {
    return a.result === b.result && a.code === b.code ? [] : ['error'];
  }
  const found: Difference[] = [];
  if (a.flagged !== b.flagged) found.push(b.flagged ? 'newly_flagged' : 'cleared');
  else if (a.flagged && a.categories !== b.categories) found.push('category_moved');
  if (a.result !== b.result) found.push('decision');
  return found;
}

interface ByModels {
  pairs: number;
  newlyFlagged: number;
  cleared: number;
  shift: number;
}

/** Adds up pairs. */
export class DiffTally {
  readonly #fingerprints: FingerprintNumbers;
  #pairs = 0;
  readonly #results = new Map<string, number>();
  readonly #differences = new Map<Difference, number>();
  readonly #gained = new Float64Array(ENTRY_CATEGORIES.length);
  readonly #lost = new Float64Array(ENTRY_CATEGORIES.length);
  readonly #shifts = new ScoreShifts();
  readonly #byModels = new Map<string, ByModels>();

  constructor(fingerprints: FingerprintNumbers) {
    this.#fingerprints = fingerprints;
  }

  add({ a, b, times }: Pair, differences: readonly Difference[]): void {
    this.#pairs += times;
    const results = `${a.result} ${b.result}`;
    this.#results.set(results, this.#resultsOf(a.result, b.result) + times);
    for (const each of differences) this.#differences.set(each, this.#differing(each) + times);
    if (differences.includes('category_moved')) {
      addBits(this.#gained, b.categories & ~a.categories, times);
      addBits(this.#lost, a.categories & ~b.categories, times);
    }
    if (a.result === 'error' || b.result === 'error') return;
    this.#shifts.add(b.score - a.score, times);
    const models = this.#models(a, b);
    if (models === null) return;
    models.pairs += times;
    models.shift += (b.score - a.score) * times;
    if (differences.includes('newly_flagged')) models.newlyFlagged += times;
    if (differences.includes('cleared')) models.cleared += times;
  }

  counts(): DiffCounts {
    const row = (a: Result): Record<Result, number> =>
      Object.fromEntries(RESULTS.map((b) => [b, this.#resultsOf(a, b)])) as Record<Result, number>;
    const results = Object.fromEntries(RESULTS.map((a) => [a, row(a)])) as Record<
      Result,
      Record<Result, number>
    >;
    const verdicts = (of: (result: Result) => number): number =>
      RESULTS.reduce((sum, result) => (result === 'error' ? sum : sum + of(result)), 0);
    const errorToVerdict = verdicts((result) => results.error[result]);
    const verdictToError = verdicts((result) => results[result].error);
    return {
      pairs: this.#pairs,
      results,
      newly_flagged: this.#differing('newly_flagged'),
      cleared: this.#differing('cleared'),
      category_moved: {
        pairs: this.#differing('category_moved'),
        by_category: ENTRY_CATEGORIES.map((category, index) => ({
          category,
          gained: this.#gained[index]!,
          lost: this.#lost[index]!,
        })).filter(({ gained, lost }) => gained + lost > 0),
      },
      errors: {
        error_to_verdict: errorToVerdict,
        verdict_to_error: verdictToError,
        other_code: this.#differing('error') - errorToVerdict - verdictToError,
      },
      score_shift: this.#shifts.result(),
      by_fingerprint: [...this.#byModels].map(([key, { pairs, newlyFlagged, cleared, shift }]) => {
        const [a, b] = key.split(' ').map((number) => this.#fingerprints.idOf(Number(number)));
        return { a: a!, b: b!, pairs, newly_flagged: newlyFlagged, cleared, mean_shift: shift / pairs };
      }),
    };
  }

  #resultsOf(a: Result, b: Result): number {
    return this.#results.get(`${a} ${b}`) ?? 0;
  }

  #differing(difference: Difference): number {
    return this.#differences.get(difference) ?? 0;
  }

  #models(a: Outcome, b: Outcome): ByModels | null {
    const key = `${a.fingerprint} ${b.fingerprint}`;
    const known = this.#byModels.get(key);
    if (known !== undefined) return known;
    if (this.#byModels.size === MAX_FINGERPRINT_PAIRS) return null;
    const made = { pairs: 0, newlyFlagged: 0, cleared: 0, shift: 0 };
    this.#byModels.set(key, made);
    return made;
  }
}

function addBits(counts: Float64Array, bits: number, times: number): void {
  for (let index = 0; index < counts.length; index++)
    if ((bits & (1 << index)) !== 0) counts[index]! += times;
}
