import type { Decision, OutcomeLine } from '../../domain/outcome.ts';
import { decide, type Decided, type Policy } from '../../domain/policy.ts';
import { CATEGORY_KEYS, type CategoryKey } from '../../domain/taxonomy.ts';

/** The decisions that a policy can make on an item whose record may lack scores. */
export interface DecisionRange {
  /** What a run decides, which does not apply thresholds to scores that it lacks. */
  readonly decided: Decided;
  /** The severest decision, if the scores that are missing were as high as can be. */
  readonly severest: Decision;
  /** Categories with a threshold of their own in the policy, but without a score. */
  readonly missing: readonly CategoryKey[];
}

const NONE: readonly CategoryKey[] = [];

/** Categories with a threshold of their own. */
export function ownCategories({ thresholds }: Policy): readonly CategoryKey[] {
  return thresholds === null ? NONE : CATEGORY_KEYS.filter((key) => thresholds[key] !== undefined);
}

/** The decisions of a policy on a recorded verdict; null for an error. `own`: see `ownCategories`. */
export function decisionRange(
  policy: Policy,
  own: readonly CategoryKey[],
  line: OutcomeLine,
): DecisionRange | null {
  if (line.score === null || line.flagged === null) return null;
  const scored = {
    score: line.score,
    flagged: line.flagged,
    subcategoryScores: line.subcategory_scores,
    subcategoryFlags: line.subcategory_flags,
    needsCaution: (line.stream?.first_caution_seq ?? null) !== null,
    partial: line.coverage !== null && line.coverage.judged < line.coverage.total,
  };
  const decided = decide(policy, scored);
  if (!decided.thresholdUnapplied) return { decided, severest: decided.decision, missing: NONE };
  const missing = own.filter((key) => line.subcategory_scores?.[key] === undefined);
  const highest = Object.fromEntries(missing.map((key) => [key, 1]));
  const subcategoryScores = { ...line.subcategory_scores, ...highest };
  return { decided, severest: decide(policy, { ...scored, subcategoryScores }).decision, missing };
}
