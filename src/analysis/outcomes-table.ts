import { join } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { CATEGORY_KEYS } from '../domain/taxonomy.ts';
import { RUN_FILES } from '../files/run-files.ts';
import type { Database } from './database.ts';
import { writeWellFormedCopy } from './well-formed-copy.ts';

/** Longest outcome line, in bytes: ids have 512 characters at most, paths some thousand. */
export const MAX_LINE_BYTES = 4 * 1024 * 1024;

/** The keys of an outcome line that queries read, with their types. */
const KEYS = {
  seq: 'UBIGINT',
  id: 'VARCHAR',
  source: 'STRUCT(path VARCHAR, "row" UBIGINT)',
  part: 'VARCHAR',
  turn: 'UBIGINT',
  modality: 'VARCHAR',
  request_type: 'VARCHAR',
  content_sha256: 'VARCHAR',
  coverage: 'STRUCT(judged DOUBLE, total DOUBLE)',
  score: 'DOUBLE',
  flagged: 'BOOLEAN',
  subcategory_scores: `STRUCT(${CATEGORY_KEYS.map((key) => `${key} DOUBLE`).join(', ')})`,
  subcategory_flags: 'VARCHAR[]',
  decision: 'VARCHAR',
  decided_by: 'VARCHAR',
  fingerprint: 'VARCHAR',
  latency_ms: 'DOUBLE',
  stream: 'STRUCT(first_caution_seq UBIGINT)',
  error: 'STRUCT(code VARCHAR)',
} as const;

export type LineKey = keyof typeof KEYS;

/** Numbers that stand for decisions in SQL. */
export const DECISION_NUMBERS = { allow: 0, review: 1, block: 2, error: -1 } as const;

/** `decision` as one of DECISION_NUMBERS. */
export const DECISION_NUMBER = `(CASE decision WHEN 'block' THEN 2 WHEN 'review' THEN 1 WHEN 'allow' THEN 0 ELSE -1 END)::TINYINT`;

const KNOWN_FLAGS = CATEGORY_KEYS.map(
  (key, index) => `(CASE WHEN list_contains(subcategory_flags, '${key}') THEN ${1 << index} ELSE 0 END)`,
).join(' | ');

/**
 * The outcome lines of a file, whose path is parameter 1, with the given keys and the columns that a policy is about
 * (policy-sql.ts), but for the scores by category.
 */
export function outcomeLines(keys: readonly LineKey[]): string {
  const always = ['coverage', 'flagged', 'subcategory_flags', 'stream'] as const;
  const columns = [...new Set([...keys, ...always])].map((key) => `${key}: '${KEYS[key]}'`);
  return `(
    WITH lines AS (
      SELECT *, ${KNOWN_FLAGS} AS known, coalesce(len(subcategory_flags), 0) > 0 AS any_flag,
        subcategory_flags[1] AS first_flag, coalesce(coverage.judged < coverage.total, false) AS partial,
        stream.first_caution_seq IS NOT NULL AS caution
      FROM read_json($1, format = 'newline_delimited', hive_partitioning = false,
        maximum_object_size = ${MAX_LINE_BYTES}, columns = {${columns.join(', ')}})
    )
    SELECT *, any_flag AND len(list_distinct(subcategory_flags)) > bit_count(known) AS unknown FROM lines
  )`;
}

/** The scores by category as columns s0 … s12; -1 for none, so that it reaches no threshold. */
export const CATEGORY_SCORES = CATEGORY_KEYS.map(
  (key, index) => `coalesce(subcategory_scores.${key}, -1) AS s${index}`,
).join(', ');

/**
 * Runs a statement that reads the verdicts.jsonl of a run directory, its parameter 1. Where the file holds halves of
 * surrogate pairs, which are no text to DuckDB, it reads a copy with U+FFFD in their place. Failure('internal') for
 * lines that are no outcomes.
 */
export async function loadVerdicts(
  database: Database,
  sql: string,
  runDir: string,
  signal: AbortSignal,
): Promise<void> {
  const path = join(runDir, RUN_FILES.verdicts);
  try {
    await database.load(sql, [path], signal);
  } catch {
    signal.throwIfAborted();
    const copy = join(database.folder, 'well-formed.jsonl');
    await writeWellFormedCopy(path, copy, signal);
    try {
      await database.load(sql, [copy], signal);
    } catch (cause) {
      signal.throwIfAborted();
      throw new Failure('internal', `${RUN_FILES.verdicts} has a line that is no outcome`, { cause });
    }
  }
}
