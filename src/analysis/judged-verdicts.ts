import { CATEGORY_KEYS, FOREIGN_CATEGORY } from '../domain/taxonomy.ts';
import type { ScoreColumns } from './score-columns.ts';

const KNOWN_FLAGS = CATEGORY_KEYS.map(
  (key, index) => `(CASE WHEN list_contains(subcategory_flags, '${key}') THEN ${1 << index} ELSE 0 END)`,
).join(' | ');

/**
 * Verdicts (`from`: as verdict-columns.ts has them) with the columns that a policy is about (policy-sql.ts): flagged categories, what was
 * judged in part, and the scores by category. Few items are flagged, so that what is about flags is a CASE: unlike AND, it is not
 * worked out for the others.
 */
export function judgedVerdicts(from: string, scored: ScoreColumns): string {
  const foreign = `lambda flag: regexp_full_match(flag, '${FOREIGN_CATEGORY}')`;
  return `(
    SELECT *, CASE WHEN any_flag THEN len(list_distinct(subcategory_flags)) > bit_count(known) ELSE false END AS other_flag,
      CASE WHEN other_flag
        THEN len(list_distinct(list_filter(subcategory_flags, ${foreign}))) + bit_count(known)
          < len(list_distinct(subcategory_flags))
        ELSE false END AS unknown
    FROM (
      SELECT *, coalesce(len(subcategory_flags), 0) > 0 AS any_flag,
        CASE WHEN any_flag THEN ${KNOWN_FLAGS} ELSE 0 END AS known, subcategory_flags[1] AS first_flag,
        coalesce(coverage_judged < coverage_total, false) AS partial,
        stream_first_caution_seq IS NOT NULL AS caution, ${scored.expressions.join(', ')}
      FROM (SELECT * REPLACE (${scored.flags} AS subcategory_flags) FROM ${from})
    )
  )`;
}
