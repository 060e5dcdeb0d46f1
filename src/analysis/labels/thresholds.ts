/** Verdicts with a label, as far as their score is known. */
export interface Scored {
  /** Scores of the verdicts whose label is true, and of those whose label is false; 0 … 1. */
  readonly positive: readonly number[];
  readonly negative: readonly number[];
  /** Verdicts without a score: their label is true, or false. */
  readonly unknownPositive: number;
  readonly unknownNegative: number;
}

/** From the worst to the best that verdicts without a score could be. Null if there is nothing to divide by. */
export type Share = { readonly min: number; readonly max: number } | null;

/** How well a threshold finds what is labelled true: what scores at or above it is found. */
export interface AtThreshold {
  readonly threshold: number;
  readonly true_positives: number;
  readonly false_positives: number;
  readonly precision: Share;
  readonly recall: Share;
  readonly f1: Share;
}

export interface Minimums {
  readonly precision: number | null;
  readonly recall: number | null;
}

/** What a threshold reaches. */
export function atThreshold(scored: Scored, threshold: number): AtThreshold {
  const above = (scores: readonly number[]): number => scores.filter((score) => score >= threshold).length;
  return measured(scored, threshold, above(scored.positive), above(scored.negative));
}

function measured(scored: Scored, threshold: number, found: number, wrong: number): AtThreshold {
  const { positive, unknownPositive, unknownNegative } = scored;
  const all = positive.length + unknownPositive;
  return {
    threshold,
    true_positives: found,
    false_positives: wrong,
    precision: share(
      [found, found + wrong + unknownNegative],
      [found + unknownPositive, found + unknownPositive + wrong],
    ),
    recall: share([found, all], [found + unknownPositive, all]),
    // 2·TP / (2·TP + FP + FN), where TP + FN is all that is labelled true.
    f1: share(
      [2 * found, found + wrong + unknownNegative + all],
      [2 * (found + unknownPositive), found + unknownPositive + wrong + all],
    ),
  };
}

type Fraction = readonly [part: number, whole: number];

function share(worst: Fraction, best: Fraction): Share {
  if (best[1] === 0 && worst[1] === 0) return null;
  const of = ([part, whole]: Fraction): number => (whole === 0 ? 0 : part / whole);
  const [a, b] = [of(worst), of(best)];
  return { min: Math.min(a, b), max: Math.max(a, b) };
}

/**
 * The threshold with the best F1 of those that reach all minimums for certain; of equal ones the one with the highest
 * precision, then the highest threshold. Only scores that occur are thresholds: nothing changes between them. Null if none
 * does.
 */
export function bestThreshold(scored: Scored, minimums: Minimums): AtThreshold | null {
  let best: AtThreshold | null = null;
  for (const each of thresholds(scored)) {
    if (!reaches(each.precision, minimums.precision) || !reaches(each.recall, minimums.recall)) continue;
    if (best === null || compare(each, best) > 0) best = each;
  }
  return best;
}

function reaches(share: Share, minimum: number | null): boolean {
  return minimum === null || (share !== null && share.min >= minimum);
}

function compare(a: AtThreshold, b: AtThreshold): number {
  return (a.f1?.min ?? 0) - (b.f1?.min ?? 0) || (a.precision?.min ?? 0) - (b.precision?.min ?? 0);
}

/** Every score that occurs as a threshold, from the highest down. */
function* thresholds(scored: Scored): Generator<AtThreshold> {
  const positive = Float64Array.from(scored.positive).sort();
  const negative = Float64Array.from(scored.negative).sort();
  let [found, wrong] = [0, 0];
  while (found < positive.length || wrong < negative.length) {
    const threshold = Math.max(positive.at(-1 - found) ?? -1, negative.at(-1 - wrong) ?? -1);
    while (positive.at(-1 - found) === threshold) found++;
    while (negative.at(-1 - wrong) === threshold) wrong++;
    yield measured(scored, threshold, found, wrong);
  }
}
