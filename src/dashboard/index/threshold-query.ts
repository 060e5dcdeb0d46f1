import type { DuckDBValue } from '@duckdb/node-api';
import type { ScoreHistograms, ThresholdEffect } from '../api/items.ts';
import { ownCategories, type Reaches, severityOf, thresholdRules } from '../../analysis/policy-sql.ts';
import { DECISIONS, type Decision } from '../../domain/outcome.ts';
import type { Policy } from '../../domain/policy.ts';
import type { ScoreColumns } from '../../analysis/score-columns.ts';
import type { Database } from '../../analysis/database.ts';

/** Number of bins of one hundredth each; 1 belongs to the last one. */
const BINS = 100;

/**
 * Decides on every verdict with a policy, with the same result as `decide`, and compares it with the run's decision.
 * The policy differs from the run's only in its thresholds, since `floor` was computed with the rest.
 */
export async function queryThresholds(
  database: Database,
  scored: ScoreColumns,
  policy: Policy,
  signal: AbortSignal,
): Promise<ThresholdEffect> {
  const values: DuckDBValue[] = [];
  const reaches: Reaches = (column, threshold) => {
    const hundredths = Math.round(threshold * 100);
    return hundredths / 100 === threshold
      ? `${column}_h >= ${hundredths}::TINYINT`
      : `${column} >= $${values.push(threshold)}::DOUBLE`;
  };
  const severity = severityOf(thresholdRules(policy, scored, reaches));
  const own = ownCategories(policy, scored).map((name) => `${scored.columnOf(name)}_h < 0`);
  const rows = await database.query(
    `SELECT decision, greatest(floor, ${severity}) AS new_decision,
       count(*), count(*) FILTER (WHERE ${own.length === 0 ? 'false' : own.join(' OR ')})
     FROM items WHERE decision >= 0 GROUP BY ALL`,
    values,
    signal,
  );
  const [now, then] = [emptyCounts(), emptyCounts()];
  const changes: { from: Decision; to: Decision; items: number }[] = [];
  let unknown = 0;
  for (const [before, after, items, without] of rows) {
    const [from, to] = [DECISIONS[Number(before)]!, DECISIONS[Number(after)]!];
    now[from] += Number(items);
    then[to] += Number(items);
    unknown += Number(without);
    if (from !== to) changes.push({ from, to, items: Number(items) });
  }
  const rank = ({ from, to }: { from: Decision; to: Decision }): number =>
    DECISIONS.indexOf(from) * DECISIONS.length + DECISIONS.indexOf(to);
  return { now, then, changes: changes.sort((a, b) => rank(a) - rank(b)), unknown };
}

/** Distribution of the scores of a run. Categories without a score are omitted. */
export async function queryScores(
  database: Database,
  scored: ScoreColumns,
  signal: AbortSignal,
): Promise<ScoreHistograms> {
  const scores = scored.names.map((key) => ({ column: scored.columnOf(key), key }));
  const each = [{ column: 'score', key: 'default' }, ...scores].map(
    ({ column, key }) => `SELECT '${key}', least(${column}_h, ${BINS - 1}) AS bin, count(*)
      FROM items WHERE ${column}_h >= 0 GROUP BY bin`,
  );
  const found = new Map<string, number[]>();
  for (const [key, bin, items] of await database.query(each.join(' UNION ALL '), [], signal)) {
    const bins = found.get(key as string) ?? new Array<number>(BINS).fill(0);
    bins[Number(bin)] = Number(items);
    found.set(key as string, bins);
  }
  const categories = scored.names.flatMap((key) => {
    const bins = found.get(key);
    return bins === undefined ? [] : [[key, bins] as const];
  });
  return {
    score: found.get('default') ?? new Array<number>(BINS).fill(0),
    categories: Object.fromEntries(categories),
  };
}

function emptyCounts(): Record<Decision, number> {
  return { allow: 0, review: 0, block: 0 };
}
