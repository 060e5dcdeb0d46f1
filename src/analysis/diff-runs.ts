import { join } from 'node:path';
import { DECISIONS, type Decision, type OutcomeLine } from '../domain/outcome.ts';
import { RUN_FILES } from '../files/run-files.ts';
import { Database } from './database.ts';
import type { FinishedVerdicts } from './finished-verdicts.ts';
import type { LineFile } from './line-file.ts';
import { ScoreColumns } from './score-columns.ts';
import { DECISION_NUMBER, verdictsInTable } from './verdict-columns.ts';

/** Maximum changes listed in a result. */
const MAX_LISTED = 100;

/** The decision on an item, or `error` if there is none. */
export type Result = Decision | 'error';

export const RESULTS: readonly Result[] = [...DECISIONS, 'error'];

/** One item of a pair, as in its outcome line. */
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

/** A pair of items with the same content whose outcome in run B differs. */
export interface DiffPair {
  readonly content_sha256: string;
  /** Score in run B minus score in run A; null unless both have a verdict. */
  readonly shift: number | null;
  readonly a: DiffItem;
  readonly b: DiffItem;
}

interface DiffSide {
  readonly run: string;
  readonly items: number;
  /** Items whose content is missing from the other run or occurs less often there. */
  readonly only_here: number;
  /** Items that failed while they were read and therefore have no content to pair them by. */
  readonly without_content: number;
}

/** Shift of one score from run A to run B. */
export interface ScoreShift {
  /** `score`, or the key of a category. */
  readonly score: string;
  /** Pairs with this score in both runs. */
  readonly pairs: number;
  readonly mean: number;
  readonly min: number;
  readonly max: number;
}

/** Differences between two runs on items with the same content. */
export interface DiffResult {
  readonly a: DiffSide;
  readonly b: DiffSide;
  /** Number of pairs: an item of one run and an item of the other with the same content. */
  readonly pairs: number;
  /** Pairs by the decision of run A, then by that of run B. */
  readonly decisions: Readonly<Record<Result, Readonly<Record<Result, number>>>>;
  /** Includes only scores that pairs have in both runs. */
  readonly score_shift: readonly ScoreShift[];
  /** The largest changes: changed decisions first, then the largest shifts of the score. */
  readonly largest: readonly DiffPair[];
}

export interface DiffOptions {
  /** Receives every pair that differs in more than its scores. */
  readonly out: LineFile | null;
  readonly signal: AbortSignal;
}

/**
 * Compares two finished runs by content: pairs each item with one of the same content in the other run, regardless of
 * its location. If the same content occurs several times, the first items of both runs are paired, then the second
 * ones, and so on, in order of decision and score.
 */
export function diffRuns(
  runA: FinishedVerdicts,
  runB: FinishedVerdicts,
  { out, signal }: DiffOptions,
): Promise<DiffResult> {
  return Database.temporary(async (database) => {
    const [pathA, pathB] = [runA, runB].map(({ dir }) => join(dir, RUN_FILES.verdictsParquet)) as [
      string,
      string,
    ];
    const tables = { a: verdictsInTable(pathA), b: verdictsInTable(pathB) };
    await database.load(pairsTable(tables), [], signal);

    const query = (sql: string): Promise<number[][]> =>
      database.query(sql, [], signal).then((rows) => rows.map((row) => row.map(Number)));
    const decisions = await countDecisions(query);
    const pairs = RESULTS.flatMap((a) => RESULTS.map((b) => decisions[a][b])).reduce((sum, n) => sum + n);
    const side = async (name: 'a' | 'b', { record }: FinishedVerdicts): Promise<DiffSide> => {
      const [sizes] = await query(`SELECT count(*), count(*) - count(content_sha256) FROM ${tables[name]}`);
      const [items, without] = sizes as [number, number];
      return { run: record.run, items, only_here: items - without - pairs, without_content: without };
    };
    if (out !== null) {
      for await (const rows of database.stream(pairsAsJson(tables, 'differs'), [], signal)) {
        await out.write(rows.map(([text]) => `${text as string}\n`));
      }
    }
    const byChange = 'ORDER BY abs(result_b - result_a) DESC, abs(shift) DESC NULLS LAST, found.a';
    const largest = pairsAsJson(tables, 'differs OR shift <> 0', `${byChange} LIMIT ${MAX_LISTED}`);
    const scored = [pathA, pathB].map((path) => ScoreColumns.of(database, path, [], signal));
    const [namesA, namesB] = (await Promise.all(scored)).map(({ inTable }) => inTable) as [
      string[],
      string[],
    ];
    return {
      ...{ a: await side('a', runA), b: await side('b', runB), pairs, decisions },
      score_shift: await scoreShifts(
        query,
        tables,
        namesA.filter((name) => namesB.includes(name)),
      ),
      largest: (await database.query(largest, [], signal)).map(
        ([text]) => JSON.parse(text as string) as DiffPair,
      ),
    };
  });
}

type Query = (sql: string) => Promise<number[][]>;

/** Table expressions for the verdicts of both runs. */
type Tables = Readonly<Record<'a' | 'b', string>>;

/**
 * Pairs by seq, with their differences; other columns are read when needed. Content is compared by a 128-bit hash,
 * which sorts and joins faster than a string.
 */
function pairsTable(tables: Tables): string {
  const items = (table: string): string => `(
    SELECT seq, md5_number(content_sha256 || request_type || modality) AS content, ${DECISION_NUMBER} AS result, score,
      coalesce(error_code, '') AS code, coalesce(flagged, false) AS flagged,
      coalesce(list_sort(list_distinct(subcategory_flags)), []) AS flags,
      row_number() OVER (PARTITION BY content ORDER BY result, score, seq) AS n
    FROM ${table} WHERE content_sha256 IS NOT NULL)`;
  return `
    CREATE TABLE pairs AS
    SELECT a.seq AS a, b.seq AS b, a.result AS result_a, b.result AS result_b, b.score - a.score AS shift,
      (a.result, a.code, a.flagged, a.flags) <> (b.result, b.code, b.flagged, b.flags) AS differs
    FROM ${items(tables.a)} a JOIN ${items(tables.b)} b USING (content, n)`;
}

async function countDecisions(query: Query): Promise<Record<Result, Record<Result, number>>> {
  const row = (): Record<Result, number> => ({ allow: 0, review: 0, block: 0, error: 0 });
  const decisions = { allow: row(), review: row(), block: row(), error: row() };
  for (const [a, b, pairs] of await query('SELECT result_a, result_b, count(*) FROM pairs GROUP BY ALL')) {
    decisions[DECISIONS[a!] ?? 'error'][DECISIONS[b!] ?? 'error'] = pairs!;
  }
  return decisions;
}

/** Shifts of the overall score and of the given categories. */
async function scoreShifts(
  query: Query,
  { a, b }: Tables,
  categories: readonly string[],
): Promise<ScoreShift[]> {
  const measures = (shift: string): string =>
    ['count', 'avg', 'min', 'max'].map((measure) => `${measure}(${shift})`).join(', ');
  const shifts = categories.map((name) => measures(`b."${name}" - a."${name}"`));
  const isScored = (side: string): string =>
    categories.map((name) => `${side}."${name}" IS NOT NULL`).join(' OR ');
  const [overall] = await query(`SELECT ${measures('shift')} FROM pairs`);
  const [byCategory] = await query(`
    SELECT ${shifts.join(', ')} FROM pairs JOIN ${a} a ON a.seq = pairs.a JOIN ${b} b ON b.seq = pairs.b
    WHERE (${isScored('a')}) AND (${isScored('b')})`);
  return ['score', ...categories].flatMap((score, at) => {
    const [pairs, mean, min, max] = [...overall!, ...byCategory!].slice(4 * at, 4 * at + 4) as Four;
    return pairs === 0 ? [] : [{ score, pairs, mean, min, max }];
  });
}

type Four = [number, number, number, number];

/** Pairs that meet a condition, as JSON; `ending` gives their order and maximum number. */
function pairsAsJson({ a, b }: Tables, condition: string, ending = ''): string {
  const item = (side: 'a' | 'b'): string => `{
    seq: ${side}.seq, id: ${side}.id, path: ${side}.path, "row": ${side}.row, part: ${side}.part, turn: ${side}.turn,
    decision: ${side}.decision, decided_by: ${side}.decided_by, score: ${side}.score, flagged: ${side}.flagged,
    subcategory_flags: ${side}.subcategory_flags, fingerprint: ${side}.fingerprint, error: ${side}.error_code}`;
  return `
    WITH chosen AS (FROM pairs AS found WHERE ${condition} ${ending})
    SELECT to_json({content_sha256: a.content_sha256, shift: shift, a: ${item('a')}, b: ${item('b')}})::VARCHAR
    FROM chosen AS found JOIN ${a} a ON a.seq = found.a JOIN ${b} b ON b.seq = found.b ${ending}`;
}
