import { mappedCategoryNames, type Policy } from '../domain/policy.ts';
import {
  CHILDREN,
  restrictingScore,
  RESTRICTING,
  type Restriction,
} from '../domain/restriction/restriction.ts';
import { CATEGORY_KEYS, isForeignCategory, type CategoryName } from '../domain/taxonomy.ts';
import { sqlText } from './duckdb.ts';

/** Maximum length of an outcome line, in bytes. Ids have at most 512 characters, paths a few thousand. */
export const MAX_LINE_BYTES = 4 * 1024 * 1024;

/** The keys of an outcome line from which the columns are made, with their types. */
const KEYS = {
  run: 'VARCHAR',
  seq: 'BIGINT',
  id: 'VARCHAR',
  source: 'STRUCT(path VARCHAR, "row" BIGINT, line BIGINT, sha256 VARCHAR, bytes BIGINT)',
  part: 'VARCHAR',
  turn: 'BIGINT',
  modality: 'VARCHAR',
  request_type: 'VARCHAR',
  content_sha256: 'VARCHAR',
  status: 'VARCHAR',
  decision: 'VARCHAR',
  decided_by: 'VARCHAR',
  score: 'DOUBLE',
  flagged: 'BOOLEAN',
  subcategory_flags: 'VARCHAR[]',
  coverage: 'STRUCT(unit VARCHAR, judged DOUBLE, total DOUBLE, worst_at DOUBLE)',
  reused_from: 'VARCHAR',
  endpoint: 'VARCHAR',
  fingerprint: 'VARCHAR',
  latency_ms: 'DOUBLE',
  attempts: 'BIGINT',
  stream:
    'STRUCT(chunks BIGINT, first_caution_seq BIGINT, shown_share_at_caution DOUBLE, first_flagged_seq BIGINT, shown_share_at_flag DOUBLE)',
  snippet: 'VARCHAR',
  moderated_at: 'TIMESTAMPTZ',
  error: 'STRUCT(code VARCHAR, reason VARCHAR, message VARCHAR, retryable BOOLEAN)',
} as const;

/** The columns about streams of generations, without their prefix `stream_`. */
export const STREAM_KEYS = [
  'chunks',
  'first_caution_seq',
  'shown_share_at_caution',
  'first_flagged_seq',
  'shown_share_at_flag',
] as const;

/** Placeholder for a column per category. */
const SCORES = ['', ''] as const;

/**
 * The columns of verdicts.parquet in order, each with its expression over an outcome line. All are nullable, so a
 * reader finds the same types in every run. `restricted_by` depends on the run's policy and comes after them.
 */
const COLUMNS: readonly (readonly [name: string, expression: string])[] = [
  // The first column: a reader that scans a corpus finds the name of the run at the beginning of the file.
  ...(['run', 'seq', 'id'] as const).map((key) => [key, key] as const),
  ...(['path', 'row', 'line'] as const).map((key) => [key, `source."${key}"`] as const),
  ['file_sha256', 'source.sha256'],
  ['file_bytes', 'source.bytes'],
  ...(['part', 'turn', 'modality', 'request_type', 'content_sha256', 'status'] as const).map(
    (key) => [key, key] as const,
  ),
  ...(['decision', 'decided_by', 'score', 'flagged'] as const).map((key) => [key, key] as const),
  SCORES,
  ['category_flags', `array_to_string(subcategory_flags, ',')`],
  ['subcategory_flags', 'subcategory_flags'],
  ...(['unit', 'judged', 'total', 'worst_at'] as const).map(
    (key) => [`coverage_${key}`, `coverage.${key}`] as const,
  ),
  ['reused_from', 'reused_from'],
  ['guard', 'endpoint'],
  ...(['fingerprint', 'latency_ms', 'attempts'] as const).map((key) => [key, key] as const),
  ...STREAM_KEYS.map((key) => [`stream_${key}`, `stream.${key}`] as const),
  ...(['snippet', 'moderated_at'] as const).map((key) => [key, key] as const),
  ...(['code', 'reason', 'message', 'retryable'] as const).map(
    (key) => [`error_${key}`, `error.${key}`] as const,
  ),
];

/**
 * The columns of verdicts.parquet, made from the outcome lines of a run with the policy. Parameter 1: path of their
 * file. `foreign` lists the categories of other taxonomies in which it has scores; each becomes a column after the 13.
 */
export function verdictsInLines(policy: Policy, foreign: readonly string[] = []): string {
  const names = [...CATEGORY_KEYS, ...foreign.filter(isForeignCategory).sort()];
  const scores = `STRUCT(${names.map((name) => `"${name}" DOUBLE`).join(', ')})`;
  const keys = Object.entries({ ...KEYS, subcategory_scores: scores }).map(
    ([key, type]) => `${key}: '${type}'`,
  );
  const all = COLUMNS.flatMap((column) =>
    column === SCORES ? names.map((name) => [name, `subcategory_scores."${name}"`] as const) : [column],
  );
  const columns = all.map(([name, expression]) => `${expression} AS "${name}"`);
  return `(
    SELECT ${columns.join(', ')}, ${restrictedBy(policy, names)} AS restricted_by
    FROM read_json($1, format = 'newline_delimited', hive_partitioning = false,
      maximum_object_size = ${MAX_LINE_BYTES}, columns = {${keys.join(', ')}})
  )`;
}

/** The rows of verdicts.parquet. Parameter 1: its path. */
export const VERDICTS_IN_TABLE = `read_parquet($1, hive_partitioning = false)`;

/** The rows of verdicts.parquet, for statements without parameters, such as views. */
export function verdictsInTable(path: string): string {
  return VERDICTS_IN_TABLE.replace('$1', () => sqlText(path));
}

/** Numbers that stand for decisions in SQL. */
export const DECISION_NUMBERS = { allow: 0, review: 1, block: 2, error: -1 } as const;

/** `decision` as one of DECISION_NUMBERS. */
export const DECISION_NUMBER = `(CASE decision WHEN 'block' THEN 2 WHEN 'review' THEN 1 WHEN 'allow' THEN 0 ELSE -1 END)::TINYINT`;

/**
 * The category that restricts an outcome line, as in `findRestriction` (domain/restriction/restriction.ts); null if
 * none.
 */
function restrictedBy(policy: Policy, names: readonly CategoryName[]): string {
  const mappedTo = (key: CategoryName): string[] =>
    mappedCategoryNames(policy.taxonomy).filter((name) => policy.taxonomy![name] === key);
  const isScored = (name: string): boolean => names.some((each) => each === name);
  const isCaught = (key: Restriction): string => {
    const conditions = RESTRICTING[key].map((name) => {
      const all = [name, ...mappedTo(name)];
      const scores = all.filter(isScored).map((each) => `subcategory_scores."${each}"`);
      const flags = all.map((each) => `coalesce(list_contains(subcategory_flags, ${sqlText(each)}), false)`);
      const isFlagged = `(${flags.join(' OR ')})`;
      const { least, decidesAlone } = restrictingScore(policy, key, name);
      if (scores.length === 0 || least === Infinity) return isFlagged;
      const reaches = `greatest(${scores.join(', ')}) >= ${least}::DOUBLE`;
      return decidesAlone
        ? `coalesce(${reaches}, ${isFlagged})`
        : `(${isFlagged} OR coalesce(${reaches}, false))`;
    });
    return `(${conditions.join(' OR ')})`;
  };
  const tellsAges = [...RESTRICTING[CHILDREN], ...mappedTo(CHILDREN)].filter(isScored);
  const hasNone = tellsAges.map((name) => `subcategory_scores."${name}" IS NULL`).join(' AND ');
  return `CASE WHEN ${isCaught(CHILDREN)} THEN '${CHILDREN}'
    WHEN ${hasNone} AND ${isCaught('sexual_content')} THEN 'sexual_content' END`;
}
