import type { Policy } from '../../domain/policy.ts';
import { judgedVerdicts } from '../../analysis/policy-sql.ts';
import { CONTENT_NUMBER } from '../../analysis/reviewed-items.ts';
import { DECISION_NUMBER } from '../../analysis/verdict-columns.ts';
import { floorRules, severityOf } from '../../analysis/policy-sql.ts';
import type { ScoreColumns } from '../../analysis/score-columns.ts';
import { CATEGORY_KEYS } from '../../domain/taxonomy.ts';

/**
 * The table behind a review list: a row per outcome, with what can be filtered and sorted. What is shown comes from the
 * outcome lines themselves.
 *
 * - `decision`: 0 allow, 1 review, 2 block, -1 not judged; `floor`: the least decision, whatever the thresholds
 * - `score`, `latency_ms`: null for an error; `s0` …: scores by category (`ScoreColumns`), -1 for none
 * - `score_h`, `s0_h` …: the same scores in hundredths, rounded down; negative for none. They are an eighth of the
 *   size, and decide whether a score reaches a threshold that is a whole number of hundredths
 * - `flags`: bit 0 … 12 the categories, 13 categories of other taxonomies, 14 review or block without a category
 * - `restricted`: as `findRestriction` says
 * - `content`: equal for items of equal content; null for one without content
 * - `id`, `path`: in lower case
 */

/** Bits of `flags` besides those of the categories. */
const OTHER = 1 << CATEGORY_KEYS.length;
const WITHOUT = OTHER << 1;

/** The bit of each category in `flags`. */
export const FLAG_BITS: Readonly<Record<string, number>> = {
  ...Object.fromEntries(CATEGORY_KEYS.map((key, index) => [key, 1 << index])),
  other: OTHER,
  none: WITHOUT,
};

/**
 * The most hundredths that a score reaches. Exact, although its product may not be: the nearest integer is that number or the
 * next one.
 */
function hundredths(score: string): string {
  const nearest = `(${score} * 100)::TINYINT`;
  return `(${nearest} - (${score} < ${nearest} / 100)::TINYINT)`;
}

/**
 * Creates the table, in place of one there may be, from verdicts of a run with the policy (`from`: as verdict-columns.ts has
 * them). Parameter 1: the path of their file.
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
