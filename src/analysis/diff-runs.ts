import { join } from 'node:path';
import { DECISIONS, type Decision, type OutcomeLine } from '../domain/outcome.ts';
import { CATEGORY_KEYS, OTHER_CATEGORIES } from '../domain/taxonomy.ts';
import { RUN_FILES } from '../files/run-files.ts';
import { Database } from './database.ts';
import type { FinishedVerdicts } from './finished-verdicts.ts';
import type { LineFile } from './line-file.ts';
import { judgedVerdicts } from './judged-verdicts.ts';
import { DECISION_NUMBER, verdictsInTable } from './verdict-columns.ts';
import { ScoreColumns } from './score-columns.ts';
import { scoreShift, type ScoreShift } from './score-shift.ts';

/** Pairs that a result names. */
const MAX_NAMED = 10;
/** Pairs that differ in more than their scores and are named: what a page has room for. */
const MAX_DIFFERENT = 100;
/** Pairs of fingerprints that are counted separately. */
const MAX_FINGERPRINT_PAIRS = 1000;

/** What an item came to. */
export type Result = Decision | 'error';

export const RESULTS: readonly Result[] = [...DECISIONS, 'error'];

/** In what a pair differs. */
const DIFFERENCES = ['newly_flagged', 'cleared', 'category_moved', 'decision', 'error'] as const;

export type Difference = (typeof DIFFERENCES)[number];

/** One item of a pair, as its outcome line has it. */
export interface DiffItem extends Pick<
  OutcomeLine,
  'seq' | 'id' | 'decision' | 'decided_by' | 'score' | 'flagged' | 'subcategory_flags' | 'fingerprint'
> {
  readonly path: string;
  readonly row: number | null;
  readonly part: string | null;
  readonly turn: number | null;
  readonly error: string | null;
}

/** A pair, or several of the same content and outcomes, of which the first items are named. */
export interface DiffPair {
  readonly content_sha256: string;
  readonly times: number;
  readonly differences: readonly Difference[];
  /** Score in run B minus score in run A; null unless both have a verdict. */
  readonly shift: number | null;
  readonly a: DiffItem;
  readonly b: DiffItem;
}

interface DiffSide {
  readonly run: string;
  readonly items: number;
  /** Items whose content is not in the other run, or there less often. */
  readonly only_here: number;
  /** Items that failed when they were read, so that they have no content to pair them by. */
  readonly without_content: number;
}

/** How two runs differ on the items of equal content. */
export interface DiffResult {
  readonly a: DiffSide;
  readonly b: DiffSide;
  /** Items of one run with an item of the other that has the same content. */
  readonly pairs: number;
  /** Pairs by what run A and then run B came to. */
  readonly results: Readonly<Record<Result, Readonly<Record<Result, number>>>>;
  /** Pairs that the guard flagged in run B only. */
  readonly newly_flagged: number;
  /** Pairs that the guard flagged in run A only. */
  readonly cleared: number;
  /** Pairs that were flagged in both runs, but not for the same categories; and which ones came and went. */
  readonly category_moved: {
    readonly pairs: number;
    readonly by_category: readonly {
      readonly category: string;
      readonly gained: number;
      readonly lost: number;
    }[];
  };
  readonly errors: {
    readonly error_to_verdict: number;
    readonly verdict_to_error: number;
    /** Errors in both runs, with different codes. */
    readonly other_code: number;
  };
  readonly score_shift: ScoreShift;
  /** Pairs of verdicts, by the models that judged. */
  readonly by_fingerprint: readonly {
    readonly a: string | null;
    readonly b: string | null;
    readonly pairs: number;
    readonly newly_flagged: number;
    readonly cleared: number;
    readonly mean_shift: number;
  }[];
  /** The pairs whose scores moved most. */
  readonly top_shifts: readonly DiffPair[];
  /** The first pairs that differ in more than their scores, those that are decided more severely in run B first. */
  readonly first_differences: readonly DiffPair[];
}

export interface DiffOptions {
  /** Takes every pair that differs in more than its score; null: they are only counted. */
  readonly out: LineFile | null;
  readonly signal: AbortSignal;
}

/**
 * Compares two finished runs by content: wherever an item is now, it is paired with an item of the same content in the
 * other run, each with at most one: first those with the same outcome, then those with the same decision, then the rest.
 */
export function diffRuns(
  runA: FinishedVerdicts,
  runB: FinishedVerdicts,
  { out, signal }: DiffOptions,
): Promise<DiffResult> {
  return Database.temporary(async (database) => {
    const tables = [runA, runB].map(({ dir }) => verdictsInTable(join(dir, RUN_FILES.verdictsParquet)));
    const [tableA, tableB] = tables as [string, string];
    for (const sql of [
      modelsTable(tables),
      sideTable('a', tableA),
      sideTable('b', tableB),
      REPEATED,
      `CREATE TABLE compared AS ${compared('a JOIN b USING (content, kind) ANTI JOIN repeated USING (content, kind)', true)}`,
      repeatedOf('a'),
      repeatedOf('b'),
      'CREATE TABLE pairs (a UBIGINT, b UBIGINT)',
      ...[OUTCOME, ['result'], []].map(pairEqual),
      `INSERT INTO compared ${compared('pairs JOIN a ON a.seq = pairs.a JOIN b ON b.seq = pairs.b', false)}`,
    ]) {
      await database.load(sql, [], signal);
    }

    const query = (sql: string): Promise<number[][]> =>
      database.query(sql, [], signal).then((rows) => rows.map((row) => row.map(Number)));
    const results = await resultsOf(query);
    const [counts] = await query(
      `SELECT count(*), ${['newly_flagged', 'cleared', 'category_moved'].map(countIf).join(', ')},
         ${countIf('result_a < 0 AND result_b < 0 AND error')} FROM compared`,
    );
    const [pairs, newlyFlagged, cleared, moved, otherCode] = counts as [
      number,
      number,
      number,
      number,
      number,
    ];
    const side = async (name: 'a' | 'b', { record }: FinishedVerdicts): Promise<DiffSide> => {
      const [sizes] = await query(`SELECT count(*), count(*) FILTER (WHERE content IS NULL) FROM ${name}`);
      const [items, without] = sizes as [number, number];
      return { run: record.run, items, only_here: items - without - pairs, without_content: without };
    };
    const verdicts = (of: (result: Decision) => number): number =>
      DECISIONS.reduce((sum, result) => sum + of(result), 0);
    if (out !== null) {
      for await (const rows of database.stream(
        named(tableA, tableB, ANY_DIFFERENCE, 'first_a'),
        [],
        signal,
      )) {
        await out.write(rows.map(([text]) => `${text as string}\n`));
      }
    }
    const top = named(tableA, tableB, 'shift <> 0', `abs(shift) DESC, first_a LIMIT ${MAX_NAMED}`);
    const different = named(
      tableA,
      tableB,
      ANY_DIFFERENCE,
      `result_b - result_a DESC, first_a LIMIT ${MAX_DIFFERENT}`,
    );
    const pairsOf = async (sql: string): Promise<DiffPair[]> =>
      (await database.query(sql, [], signal)).map(([text]) => JSON.parse(text as string) as DiffPair);
    return {
      ...{ a: await side('a', runA), b: await side('b', runB), pairs, results },
      ...{ newly_flagged: newlyFlagged, cleared },
      category_moved: { pairs: moved, by_category: await movedCategories(query) },
      errors: {
        error_to_verdict: verdicts((result) => results.error[result]),
        verdict_to_error: verdicts((result) => results[result].error),
        other_code: otherCode,
      },
      score_shift: await scoreShift(query),
      by_fingerprint: await byModels(database, signal),
      top_shifts: await pairsOf(top),
      first_differences: await pairsOf(different),
    };
  });
}

type Query = (sql: string) => Promise<number[][]>;

/** Flagged categories are bits; the last one stands for all that are not in the taxonomy. */
const CATEGORIES: readonly string[] = [...CATEGORY_KEYS, OTHER_CATEGORIES];

/** What says the same, whichever model said it. */
const OUTCOME = ['result', 'code', 'flagged', 'categories', 'score'] as const;

/** The fingerprints of both runs, numbered: a table of these is smaller, and quicker to compare. */
function modelsTable(tables: readonly string[]): string {
  const all = tables.map((table) => `SELECT DISTINCT fingerprint FROM ${table}`).join(' UNION ');
  return `CREATE TABLE models AS SELECT row_number() OVER ()::INTEGER AS model, fingerprint FROM (${all})`;
}

/**
 * What is compared of the items of a run; what is only named is read when it is wanted. Error codes and scores that are missing are
 * '' and -1, to be equal.
 */
function sideTable(name: 'a' | 'b', table: string): string {
  return `
    CREATE TABLE ${name} AS
    SELECT seq, unhex(content_sha256) AS content, request_type || modality AS kind, ${DECISION_NUMBER} AS result,
      coalesce(error_code, '') AS code, coalesce(flagged, false) AS flagged, coalesce(score, -1) AS score,
      (known | CASE WHEN other_flag THEN ${1 << CATEGORY_KEYS.length} ELSE 0 END)::USMALLINT AS categories,
      coalesce(model, 0) AS model
    FROM ${judgedVerdicts(table, ScoreColumns.ofTaxonomy([]))} LEFT JOIN models USING (fingerprint)`;
}

/** Contents that a run has several times. All others have one possible partner. */
const REPEATED = `
  CREATE TABLE repeated AS
  SELECT content, kind FROM a WHERE content IS NOT NULL GROUP BY ALL HAVING count(*) > 1
  UNION SELECT content, kind FROM b WHERE content IS NOT NULL GROUP BY ALL HAVING count(*) > 1`;

const repeatedOf = (side: 'a' | 'b'): string =>
  `CREATE TABLE repeated_${side} AS FROM ${side} SEMI JOIN repeated USING (content, kind)`;

/** Pairs the items of repeated contents that have no partner yet and are equal in these columns, in corpus order. */
function pairEqual(columns: readonly string[]): string {
  const key = ['content', 'kind', ...columns].join(', ');
  const left = (side: 'a' | 'b'): string => `(
    SELECT seq, ${key}, row_number() OVER (PARTITION BY ${key} ORDER BY seq) AS n
    FROM repeated_${side} ANTI JOIN (SELECT ${side} AS seq FROM pairs) USING (seq))`;
  return `INSERT INTO pairs SELECT a.seq, b.seq FROM ${left('a')} a JOIN ${left('b')} b USING (${key}, n)`;
}

const ANY_DIFFERENCE = DIFFERENCES.join(' OR ');

const BOTH_VERDICTS = 'a.result >= 0 AND b.result >= 0';

/** Pairs, and in what they differ. `alone`: no other pair has the same content. */
function compared(pairs: string, alone: boolean): string {
  return `
    SELECT a.seq AS a, b.seq AS b, a.content, a.kind, ${alone} AS alone, a.result AS result_a, b.result AS result_b,
      a.categories AS categories_a, b.categories AS categories_b, a.model AS model_a, b.model AS model_b,
      CASE WHEN ${BOTH_VERDICTS} THEN b.score - a.score END AS shift, a.score AS score_a,
      ${BOTH_VERDICTS} AND b.flagged AND NOT a.flagged AS newly_flagged,
      ${BOTH_VERDICTS} AND a.flagged AND NOT b.flagged AS cleared,
      ${BOTH_VERDICTS} AND a.flagged AND b.flagged AND a.categories <> b.categories AS category_moved,
      ${BOTH_VERDICTS} AND a.result <> b.result AS decision,
      NOT (${BOTH_VERDICTS}) AND (a.result <> b.result OR a.code <> b.code) AS error
    FROM ${pairs}`;
}

const countIf = (condition: string): string => `count(*) FILTER (WHERE ${condition})`;

async function resultsOf(query: Query): Promise<Record<Result, Record<Result, number>>> {
  const row = (): Record<Result, number> => ({ allow: 0, review: 0, block: 0, error: 0 });
  const results = { allow: row(), review: row(), block: row(), error: row() };
  for (const [a, b, pairs] of await query('SELECT result_a, result_b, count(*) FROM compared GROUP BY ALL')) {
    results[DECISIONS[a!] ?? 'error'][DECISIONS[b!] ?? 'error'] = pairs!;
  }
  return results;
}

async function movedCategories(query: Query): Promise<DiffResult['category_moved']['by_category']> {
  const only = (in_: 'a' | 'b', not: 'a' | 'b', bit: number): string =>
    countIf(`categories_${in_} & ${bit} <> 0 AND categories_${not} & ${bit} = 0`);
  const sums = CATEGORIES.flatMap((_, index) => [only('b', 'a', 1 << index), only('a', 'b', 1 << index)]);
  const [row] = await query(`SELECT ${sums.join(', ')} FROM compared WHERE category_moved`);
  return CATEGORIES.map((category, index) => ({
    ...{ category, gained: row![2 * index]!, lost: row![2 * index + 1]! },
  })).filter(({ gained, lost }) => gained + lost > 0);
}

async function byModels(database: Database, signal: AbortSignal): Promise<DiffResult['by_fingerprint']> {
  const rows = await database.query(
    `SELECT a.fingerprint, b.fingerprint, pairs, new, gone, shift FROM (
       SELECT model_a, model_b, count(*) AS pairs, ${countIf('newly_flagged')} AS new, ${countIf('cleared')} AS gone,
         avg(shift) AS shift, min(a) AS first
       FROM compared WHERE shift IS NOT NULL GROUP BY model_a, model_b ORDER BY first LIMIT ${MAX_FINGERPRINT_PAIRS})
     LEFT JOIN models a ON a.model = model_a LEFT JOIN models b ON b.model = model_b ORDER BY first`,
    [],
    signal,
  );
  return rows.map(([a, b, pairs, newlyFlagged, cleared, meanShift]) => ({
    ...{ a: a as string | null, b: b as string | null, pairs: Number(pairs) },
    ...{ newly_flagged: Number(newlyFlagged), cleared: Number(cleared), mean_shift: meanShift as number },
  }));
}

/** Pairs as JSON, those of the same content and outcomes as one. */
function named(tableA: string, tableB: string, condition: string, order: string): string {
  const item = (side: 'a' | 'b'): string => `{
    seq: ${side}.seq, id: ${side}.id, path: ${side}.path, "row": ${side}.row, part: ${side}.part, turn: ${side}.turn,
    decision: ${side}.decision, decided_by: ${side}.decided_by, score: ${side}.score, flagged: ${side}.flagged,
    subcategory_flags: ${side}.subcategory_flags, fingerprint: ${side}.fingerprint, error: ${side}.error_code}`;
  const differences = DIFFERENCES.map((each) => `CASE WHEN found.${each} THEN '${each}' END`).join(', ');
  return `
    WITH alike AS (
      SELECT a AS first_a, b AS first_b, 1 AS times, * EXCLUDE (a, b)
      FROM compared WHERE alone AND (${condition})
      UNION ALL
      SELECT min(a) AS first_a, min(b) AS first_b, count(*) AS times, * EXCLUDE (a, b)
      FROM compared WHERE NOT alone AND (${condition}) GROUP BY ALL
    ), found AS (SELECT * FROM alike ORDER BY ${order})
    SELECT to_json({
      content_sha256: lower(hex(found.content)), times: times,
      differences: list_filter([${differences}], lambda each: each IS NOT NULL), shift: shift,
      a: ${item('a')}, b: ${item('b')}})::VARCHAR
    FROM found JOIN ${tableA} a ON a.seq = first_a JOIN ${tableB} b ON b.seq = first_b ORDER BY ${order}`;
}
