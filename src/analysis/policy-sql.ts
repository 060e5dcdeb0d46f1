import { type Policy, SEVERE_CATEGORIES, findThresholds } from '../domain/policy.ts';
import { isCategoryKey, CATEGORY_KEYS, FOREIGN_CATEGORY, type CategoryName } from '../domain/taxonomy.ts';
import type { ScoreColumns } from './score-columns.ts';

/**
 * A policy as SQL: the same rules as `decide` in domain/policy.ts, in the same order. They use these columns:
 *
 *   score, s0 …                     DOUBLE; s0 … are by category (score-columns.ts), -1 if there is no score
 *   flagged, any_flag, first_flag   the guard's flag; whether it flagged any category; the first flagged category
 *   known, unknown                  flagged categories of the taxonomy as bits; whether one is in no taxonomy
 *   other_flag                      whether one is not in our taxonomy
 *   subcategory_flags               all flagged categories
 *   partial, caution                only partly judged; a stream with `needs_caution`
 *
 * A property test checks this SQL against `decide`.
 */

/** A rule that may raise a decision. */
export interface Rule {
  /** Condition. */
  readonly when: string;
  /** 1 for review, 2 for block. */
  readonly then: 1 | 2;
  /** SQL expression for the name of the rule, as in `decided_by`. */
  readonly name: string;
}

/** SQL condition for whether the score in a column reaches a threshold; callers can replace the usual comparison. */
export type Reaches = (column: string, threshold: number) => string;

const reachesExactly: Reaches = (column, threshold) => `${column} >= ${threshold}::DOUBLE`;

/** The rules that depend on the thresholds of a policy. */
export function thresholdRules(
  policy: Policy,
  scored: ScoreColumns,
  reaches: Reaches = reachesExactly,
): readonly Rule[] {
  const { thresholds } = policy;
  if (thresholds === null) return [{ when: 'flagged', then: 2, name: `'flagged'` }];
  const scores = [
    { column: 'score', name: 'score', levels: thresholds.default },
    ...scored.names.map((name) => ({
      ...{ column: scored.columnOf(name), name, levels: findThresholds(policy, name) },
    })),
  ];
  return scores.flatMap(({ column, name, levels }) => {
    const rule = (level: 'review' | 'block', then: 1 | 2): Rule[] => {
      const threshold = levels?.[level];
      if (threshold === undefined) return [];
      return [{ when: reaches(column, threshold), then, name: `'${name}>=${threshold}'` }];
    };
    return [...rule('block', 2), ...rule('review', 1)];
  });
}

/** The rules that apply regardless of the thresholds. */
export function floorRules({ allowFlagged, allowPartial }: Policy): readonly Rule[] {
  return [
    ...SEVERE_CATEGORIES.map(
      (name) => ({ when: isFlagged(name), then: 2, name: `'${name} flagged'` }) as const,
    ),
    { when: 'unknown', then: 1, name: `'unknown category flagged'` },
    ...(allowPartial ? [] : [{ when: 'partial', then: 1, name: `'partial coverage'` } as const]),
    ...(allowFlagged
      ? []
      : ([
          { when: 'flagged', then: 1, name: `'flagged'` },
          { when: 'any_flag', then: 1, name: `first_flag || ' flagged'` },
          { when: 'caution', then: 1, name: `'needs_caution'` },
        ] as const)),
  ];
}

/** The severest decision of the rules: 0 allow, 1 review, 2 block. */
export function severityOf(rules: readonly Rule[]): string {
  return `(CASE WHEN ${anyOf(rules, 2)} THEN 2 WHEN ${anyOf(rules, 1)} THEN 1 ELSE 0 END)::TINYINT`;
}

/** The name of the deciding rule: the first of the severest. Null for allow. */
export function decidedBy(rules: readonly Rule[]): string {
  const named = (severity: 1 | 2): string[] =>
    rules.filter(({ then }) => then === severity).map(({ when, name }) => `WHEN ${when} THEN ${name}`);
  return `CASE ${[...named(2), ...named(1), 'WHEN true THEN NULL'].join(' ')} END`;
}

function anyOf(rules: readonly Rule[], severity: 1 | 2): string {
  const conditions = rules.filter(({ then }) => then === severity).map(({ when }) => when);
  return conditions.length === 0 ? 'false' : conditions.join(' OR ');
}

/** Whether a category is flagged. */
export function isFlagged(name: CategoryName): string {
  if (isCategoryKey(name)) return `(known & ${1 << CATEGORY_KEYS.indexOf(name)}) <> 0`;
  return `coalesce(list_contains(subcategory_flags, '${name}'), false)`;
}

/** Categories with a threshold of their own. */
export function ownCategories({ thresholds }: Policy, { names }: ScoreColumns): readonly CategoryName[] {
  return thresholds === null ? [] : names.filter((name) => thresholds[name] !== undefined);
}

const KNOWN_FLAGS = CATEGORY_KEYS.map(
  (key, index) => `(CASE WHEN list_contains(subcategory_flags, '${key}') THEN ${1 << index} ELSE 0 END)`,
).join(' | ');

/**
 * Verdicts from `from` (in the columns of verdict-columns.ts), with the columns listed at the top: flagged categories,
 * partial coverage, and scores by category. Uses CASE because few items are flagged, and CASE, unlike AND, is not
 * evaluated for the others.
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
