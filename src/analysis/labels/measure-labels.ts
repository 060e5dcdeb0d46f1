import { join } from 'node:path';
import type { CategoryName } from '../../domain/taxonomy.ts';
import { createFile } from '../../files/create-file.ts';
import type { Database } from '../database.ts';
import type { ScoreColumns } from '../score-columns.ts';
import type { Label } from './read-labels.ts';

/** Thresholds of the curve: 0.05, 0.1, … 0.95. */
const CURVE = Array.from({ length: 19 }, (_, index) => (index + 1) / 20);

const LABELS_PER_WRITE = 10_000;

/** How well a threshold finds the items labelled true. It finds those with a score at or above it. */
export interface AtThreshold {
  readonly threshold: number;
  readonly true_positives: number;
  readonly false_positives: number;
  /** Null if nothing is found. */
  readonly precision: number | null;
  /** Null if no label is true; F1 is then null too. */
  readonly recall: number | null;
  readonly f1: number | null;
}

/** Minimums that a threshold should reach. */
export interface Wanted {
  readonly precision: number | null;
  readonly recall: number | null;
}

/** How well one score, the overall one or that of a category, fits the labels. */
export interface ScoreResult {
  /** `score`, or the key of a category. */
  readonly score: string;
  /** Verdicts by label. */
  readonly labelled: { readonly true: number; readonly false: number };
  /** Labelled verdicts without a score for the category. No threshold finds them, as in a run. */
  readonly without_score: { readonly true: number; readonly false: number };
  readonly curve: readonly AtThreshold[];
  /** If several thresholds have the best F1, the one with the highest precision; null if there is no score. */
  readonly best_f1: AtThreshold | null;
  /** The best of the thresholds that reach the minimums; null if none does, or there are no minimums. */
  readonly wanted: AtThreshold | null;
}

export interface LabelResult {
  readonly labels: number;
  /** Labels that match no item of the run. */
  readonly unmatched: number;
  /** Labels left out because another label contradicts them about the same item. */
  readonly contradictions: number;
  /** Labels of items that ended in an error. */
  readonly without_verdict: number;
  readonly minimums: Wanted;
  readonly scores: readonly ScoreResult[];
}

/**
 * Compares the scores of a run with labels. `database` has a table `outcomes` with seq, id, part, content_sha256,
 * `before` (negative for an error), score and the columns of `scored`.
 */
export async function measureLabels(
  database: Database,
  { labels, scored }: { readonly labels: readonly Label[]; readonly scored: ScoreColumns },
  minimums: Wanted,
  signal: AbortSignal,
): Promise<LabelResult> {
  const path = join(database.folder, 'labels.jsonl');
  await writeLabels(path, labels);
  await database.load(LABELS, [path], signal);
  await database.load(matchedLabels(scored), [], signal);
  const query = async (sql: string): Promise<readonly unknown[][]> =>
    (await database.query(sql, [], signal)).map((row) => [...row]);
  const [counts] = await query(COUNTS);
  const [all, unmatched, contradictions, withoutVerdict] = counts!.map(Number) as Four;
  const kinds = await query(`
    SELECT category, ${['label', 'NOT label', 'score < 0 AND label', 'score < 0 AND NOT label']
      .map((condition) => `count(*) FILTER (WHERE ${condition})`)
      .join(', ')}
    FROM matched WHERE has_verdict GROUP BY category`);
  const measured = (await query(measuresQuery(minimums))).map(pointOf);
  const order: readonly (string | null)[] = [null, ...scored.names];
  return {
    ...{ labels: all, unmatched, contradictions, without_verdict: withoutVerdict, minimums },
    scores: kinds
      .toSorted(([a], [b]) => order.indexOf(a as string | null) - order.indexOf(b as string | null))
      .map(([category, ...numbers]) => {
        const [positive, negative, unknownPositive, unknownNegative] = numbers.map(Number) as Four;
        const points = measured.filter((point) => point.category === category);
        const chosen = (which: 'isBest' | 'isWanted'): AtThreshold | null =>
          points.find((point) => point[which])?.at ?? null;
        return {
          score: (category as string | null) ?? 'score',
          labelled: { true: positive, false: negative },
          without_score: { true: unknownPositive, false: unknownNegative },
          curve: points.filter(({ at }) => CURVE.includes(at.threshold)).map(({ at }) => at),
          ...{ best_f1: chosen('isBest'), wanted: chosen('isWanted') },
        };
      }),
  };
}

type Four = [number, number, number, number];

async function writeLabels(path: string, labels: readonly Label[]): Promise<void> {
  const file = await createFile(path);
  try {
    for (let from = 0; from < labels.length; from += LABELS_PER_WRITE) {
      const texts = labels.slice(from, from + LABELS_PER_WRITE).map((label, index) => {
        // Lone surrogates, which DuckDB rejects, become U+FFFD.
        const id = label.id && Buffer.from(label.id).toString();
        return `${JSON.stringify({ ...label, id, number: from + index })}\n`;
      });
      await file.appendFile(texts.join(''));
    }
  } finally {
    await file.close();
  }
}

/**
 * The labels without repetitions: if several labels are equal or contradict each other, the first one stays. Parameter
 * 1: path of their file.
 */
const LABELS = `
  CREATE TABLE labels AS
  SELECT id, content, part, category, min(number) AS number, arg_min(label, number) AS label,
    count(*) FILTER (WHERE label <> first_label) AS contradictions
  FROM (
    SELECT *, first_value(label) OVER (PARTITION BY id, content, part, category ORDER BY number) AS first_label
    FROM (
      SELECT number, CASE WHEN content_sha256 IS NULL THEN id END AS id, content_sha256 AS content, part, category, label
      FROM read_json($1, format = 'newline_delimited', columns = {number: 'BIGINT', id: 'VARCHAR', content_sha256: 'VARCHAR',
        part: 'VARCHAR', category: 'VARCHAR', label: 'BOOLEAN'})))
  GROUP BY id, content, part, category`;

/**
 * The labelled items. For each category, labels matched by id take precedence over labels matched by content. A missing
 * score is negative.
 */
function matchedLabels(scored: ScoreColumns): string {
  const scores = scored.names.map((name) => `WHEN '${name}' THEN ${scored.columnOf(name)}`);
  const matching = (key: string): string => `
    SELECT labels.number, label, category, content IS NOT NULL AS by_content, labels.part IS NOT NULL AS by_part, outcomes.*
    FROM labels JOIN outcomes ON ${key} AND (labels.part IS NULL OR labels.part = outcomes.part)`;
  return `
    CREATE TABLE matched AS
    SELECT number, label, category, before >= 0 AS has_verdict, CASE category ${scores.join(' ')} ELSE score END AS score
    FROM (${matching('labels.id = outcomes.id')} UNION ALL ${matching('labels.content = outcomes.content_sha256')})
    QUALIFY row_number() OVER (PARTITION BY seq, category ORDER BY by_content, by_part) = 1`;
}

const COUNTS = `
  SELECT count(*), count(*) FILTER (WHERE number NOT IN (SELECT number FROM matched)), coalesce(sum(contradictions), 0),
    (SELECT count(*) FROM matched WHERE NOT has_verdict)
  FROM labels`;

/**
 * Precision, recall and F1 at the thresholds of the curve, at the best one, and at the best one that reaches the
 * minimums.
 */
function measuresQuery({ precision, recall }: Wanted): string {
  const isWanted = `precision >= ${precision ?? 0}::DOUBLE AND recall >= ${recall ?? 0}::DOUBLE`;
  const isAsked = precision !== null || recall !== null;
  const isFirst = (of: string): string =>
    `${of} AND row_number() OVER (PARTITION BY category, ${of} ORDER BY f1 DESC, precision DESC, threshold DESC) = 1`;
  return `
    WITH points AS (
      SELECT category, threshold, sum(yes) AS yes, sum(no) AS no FROM (
        SELECT category, score AS threshold, label::INTEGER AS yes, 1 - label::INTEGER AS no FROM matched WHERE has_verdict
        UNION ALL
        SELECT DISTINCT category, unnest([${CURVE.join(', ')}])::DOUBLE, 0, 0 FROM matched WHERE has_verdict
      ) GROUP BY ALL
    ), found AS (
      SELECT category, threshold, yes + no > 0 AS occurs, sum(yes) OVER above AS tp, sum(no) OVER above AS fp,
        sum(yes) OVER (PARTITION BY category) AS positive
      FROM points WINDOW above AS (PARTITION BY category ORDER BY threshold DESC)
    ), measured AS (
      SELECT *, tp / nullif(tp + fp, 0) AS precision, tp / nullif(positive, 0) AS recall,
        2 * tp / nullif(tp + fp + positive, 0) AS f1, coalesce(${isAsked} AND occurs AND ${isWanted}, false) AS reaches
      FROM found WHERE threshold >= 0
    )
    SELECT category, threshold, tp::DOUBLE, fp::DOUBLE, precision, recall, f1,
      ${isFirst('occurs')} AS is_best, ${isFirst('reaches')} AS is_wanted
    FROM measured QUALIFY is_best OR is_wanted OR threshold IN (${CURVE.join(', ')}) ORDER BY threshold`;
}

/** Converts a row of `measuresQuery`. */
function pointOf([
  category,
  threshold,
  tp,
  fp,
  precision,
  recall,
  f1,
  isBest,
  isWanted,
]: readonly unknown[]): {
  readonly category: CategoryName | null;
  readonly at: AtThreshold;
  readonly isBest: boolean;
  readonly isWanted: boolean;
} {
  return {
    category: category as CategoryName | null,
    at: {
      ...{ threshold: threshold as number, true_positives: tp as number, false_positives: fp as number },
      ...{ precision: precision as number | null, recall: recall as number | null, f1: f1 as number | null },
    },
    ...{ isBest: isBest === true, isWanted: isWanted === true },
  };
}
