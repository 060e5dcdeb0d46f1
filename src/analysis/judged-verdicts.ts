import { CATEGORY_KEYS, FOREIGN_CATEGORY } from '../domain/taxonomy.ts';
import type { ScoreColumns } from './score-columns.ts';

const KNOWN_FLAGS = CATEGORY_KEYS.map(
  (key, index) => `(CASE WHEN list_contains(subcategory_flags, '${key}') THEN ${1 << index} ELSE 0 END)`,
).join(' | ');

/**
 * Verdicts (`from`: as verdict-columns.ts has them) with the columns that a policy is about (policy-sql.ts): flagged categories, what was
 * judged in part, and the scores by category.
 */
export function judgedVerdicts(from: string, scored: ScoreColumns): string {
  const foreign = `lambda flag: regexp_full_match(flag, '${FOREIGN_CATEGORY}')`;
  return `(
    SELECT *, CASE WHEN any_flag THEN len(list_distinct(subcategory_flags)) > bit_count(known) ELSE false END AS other_flag,
      CASE WHEN other_flag THEN len(list_distinct(list_filter(subcategory_flags, ${foreign}))) + bit_count(known)
        < len(list_distinct(subcategory_flags)) ELSE false END AS unknown
    FROM (
      SELECT *, CASE WHEN subcategory_flags IS NULL THEN 0 ELSE ${KNOWN_FLAGS} END AS known,
        coalesce(len(subcategory_flags), 0) > 0 AS any_flag, subcategory_flags[1] AS first_flag,
        coalesce(coverage_judged < coverage_total, false) AS partial,
        stream_first_caution_seq IS NOT NULL AS caution, ${scored.expressions.join(', ')}
      FROM (SELECT * REPLACE (${scored.flags} AS subcategory_flags) FROM ${from})
    )
  )`;
}
