import type { Policy } from '../../domain/policy.ts';
import { judgedVerdicts } from '../../analysis/policy-sql.ts';
import { CONTENT_NUMBER } from '../../analysis/reviewed-items.ts';
import { DECISION_NUMBER } from '../../analysis/verdict-columns.ts';
import { floorRules, severityOf } from '../../analysis/policy-sql.ts';
import type { ScoreColumns } from '../../analysis/score-columns.ts';
import { CATEGORY_KEYS } from '../../domain/taxonomy.ts';

/**
 * The table for the review list: one row per outcome, with everything that can be filtered and sorted. What the list
 * shows comes from the outcome lines themselves.
 *
 * - `decision`: 0 allow, 1 review, 2 block, -1 not judged; `floor`: the minimum decision, regardless of the
 *   thresholds
 * - `score`, `latency_ms`: null for an error; `s0` …: scores by category (`ScoreColumns`), -1 for none
 * - `score_h`, `s0_h` …: the same scores in hundredths, rounded down; negative for none. They take an eighth of the
 *   space, and suffice to compare a score with a threshold that is an integer number of hundredths
 * - `flags`: bits 0 … 12 are the categories, 13 is any category of another taxonomy, 14 is review or block without a
 *   category
 * - `restricted`: as in `findRestriction`
 * - `content`: the same for items with the same content; null for one without content
 * - `id`, `path`: in lower case
 */

/** Bits of `flags` in addition to those of the categories. */
const OTHER = 1 << CATEGORY_KEYS.length;
const WITHOUT = OTHER << 1;

/** The bit of each category in `flags`. */
export const FLAG_BITS: Readonly<Record<string, number>> = {
  ...Object.fromEntries(CATEGORY_KEYS.map((key, index) => [key, 1 << index])),
  other: OTHER,
  none: WITHOUT,
};

/**
 * The score in whole hundredths, rounded down. Exact even if the product is not: the nearest integer is the result or
 * one above it.
 */
function hundredths(score: string): string {
  const nearest = `(${score} * 100)::TINYINT`;
  return `(${nearest} - (${score} < ${nearest} / 100)::TINYINT)`;
}

/**
 * Creates the table, replacing any existing one, from verdicts of a run with the policy. `from` has the columns of
 * verdict-columns.ts. Parameter 1: path of their file.
 */
export function createItems(policy: Policy, scored: ScoreColumns, from: string): string {
  const { columns } = scored;
  return `
    CREATE OR REPLACE TABLE items AS
    SELECT seq::UBIGINT AS seq, lower(id) AS id, lower(path) AS path, split_part(path, '/', 1) AS corpus, modality,
      ${DECISION_NUMBER} AS decision, ${severityOf(floorRules(policy))} AS floor,
      (known | (CASE WHEN other_flag THEN ${OTHER} ELSE 0 END) |
        (CASE WHEN NOT any_flag AND decision IN ('review', 'block') THEN ${WITHOUT} ELSE 0 END))::UINTEGER AS flags,
      score, ${columns.join(', ')}, ${hundredths('score')} AS score_h,
      ${columns.map((column) => `CASE WHEN ${column} < 0 THEN -1::TINYINT ELSE ${hundredths(column)} END AS ${column}_h`).join(', ')},
      coalesce(flagged, false) AS flagged, restricted_by IS NOT NULL AS restricted, latency_ms, error_code,
      ${CONTENT_NUMBER} AS content
    FROM ${judgedVerdicts(from, scored)}`;
}
