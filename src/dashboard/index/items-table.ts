import type { Policy } from '../../domain/policy.ts';
import { CATEGORY_SCORES, DECISION_NUMBER, outcomeLines } from '../../analysis/outcomes-table.ts';
import { floorRules, severityOf } from '../../analysis/policy-sql.ts';
import { CHILDREN, leastScore, type Restriction } from '../../domain/restriction/restricted.ts';
import { CATEGORY_KEYS } from '../../domain/taxonomy.ts';

/**
 * The table behind a review list: a row per outcome, with what can be filtered and sorted. What is shown comes from the
 * outcome lines themselves.
 *
 * - `decision`: 0 allow, 1 review, 2 block, -1 not judged; `floor`: the least decision, whatever the thresholds
 * - `score`, `latency_ms`: null for an error; `s0` … `s12`: scores by category, -1 for none
 * - `score_h`, `s0_h` … `s12_h`: the same scores in hundredths, rounded down; negative for none. They are an eighth of the
 *   size, and decide whether a score reaches a threshold that is a whole number of hundredths
 * - `flags`: bit 0 … 12 the categories, 13 categories that are not known, 14 review or block without a category
 * - `restricted`: as `restrictedBy` says
 * - `id`, `path`: in lower case; `review`: 0 open, 1 agreed, 2 overturned
 */

export const REVIEW_NUMBERS = { open: 0, agreed: 1, overturned: 2 } as const;

/** Bits of `flags` besides those of the categories. */
const OTHER = 1 << CATEGORY_KEYS.length;
const WITHOUT = OTHER << 1;

/** The bit of each category in `flags`. */
export const FLAG_BITS: Readonly<Record<string, number>> = {
  ...Object.fromEntries(CATEGORY_KEYS.map((key, index) => [key, 1 << index])),
  other: OTHER,
  none: WITHOUT,
};

/** Whether an item is restricted, as `restrictedBy` in domain/restriction/restricted.ts says. */
function restricted(policy: Policy): string {
  const isCaught = (key: Restriction): string => {
    const least = leastScore(policy, key);
    const rule =
      least === Infinity ? '' : ` OR coalesce(subcategory_scores.${key} >= ${least}::DOUBLE, false)`;
    return `((known & ${FLAG_BITS[key]!}) <> 0${rule})`;
  };
  return `${isCaught(CHILDREN)} OR (${isCaught('sexual_content')} AND subcategory_scores.${CHILDREN} IS NULL)`;
}

/**
 * The most hundredths that a score reaches. Exact, although its product may not be: the nearest integer is that number or the
 * next one.
 */
function hundredths(score: string): string {
  const nearest = `(${score} * 100)::TINYINT`;
  return `(${nearest} - (${score} < ${nearest} / 100)::TINYINT)`;
}

const READ = [
  ...(['seq', 'id', 'source', 'modality', 'score', 'subcategory_scores'] as const),
  ...(['decision', 'latency_ms', 'error'] as const),
];

/** Creates the table, in place of one there may be, from outcome lines. Parameter 1: path of the file; its lines are those of a run with the policy. */
export function createItems(policy: Policy): string {
  const scores = CATEGORY_KEYS.map((key, index) => [`subcategory_scores.${key}`, `s${index}`] as const);
  return `
    CREATE OR REPLACE TABLE items AS
    SELECT seq, lower(id) AS id, lower(source.path) AS path, split_part(source.path, '/', 1) AS corpus, modality,
      ${DECISION_NUMBER} AS decision, ${severityOf(floorRules(policy))} AS floor,
      (known | (CASE WHEN unknown THEN ${OTHER} ELSE 0 END) |
        (CASE WHEN NOT any_flag AND decision IN ('review', 'block') THEN ${WITHOUT} ELSE 0 END))::UINTEGER AS flags,
      score, ${CATEGORY_SCORES}, ${hundredths('score')} AS score_h,
      ${scores.map(([score, column]) => `coalesce(${hundredths(score)}, -1::TINYINT) AS ${column}_h`).join(', ')}, coalesce(flagged, false) AS flagged,
      ${restricted(policy)} AS restricted, latency_ms, error.code AS error_code, 0::UTINYINT AS review
    FROM ${outcomeLines(READ)}`;
}
