import { replaysGenerations, type RunConfig } from '../../config/run-config.ts';
import { CATEGORIES, CATEGORY_KEYS, FOREIGN_CATEGORY } from '../../domain/taxonomy.ts';
import { NO_RULE, RULES_IN_WORDS, RULE_LABELS } from '../../domain/words/decided-by-words.ts';
import { sqlText } from '../duckdb.ts';
import { STREAM_KEYS } from '../verdict-columns.ts';

/** A column of a table, computed from the columns of verdicts.parquet. */
export interface TableColumn {
  readonly name: string;
  /** SQL expression for the value: any text, a number, or plain text of our own that never needs escaping. */
  readonly value: string;
  readonly type: 'text' | 'number' | 'plain';
}

/** A column of flagged.csv and flagged.xlsx. */
export interface FlaggedColumn extends TableColumn {
  /** Heading in flagged.xlsx; `width` and `format` apply there too. */
  readonly title: string;
  /** Width in characters. */
  readonly width: number;
  /** Null to leave values unchanged. */
  readonly format: 'score' | 'time' | null;
}

/** Coverage, such as `12 of 12 chars`. */
const COVERAGE = `plain(coverage_judged) || ' of ' || plain(coverage_total) || ' ' || coverage_unit`;

/** A time that spreadsheets recognise, to the second. */
const TIME: TableColumn = {
  name: 'moderated_at_utc',
  value: `strftime(make_timestamp(epoch_us(moderated_at)), '%Y-%m-%d %H:%M:%S')`,
  type: 'plain',
};

function text(name: string, value = `"${name}"`): TableColumn {
  return { name, value, type: 'text' };
}

function plain(name: string, value = `"${name}"`): TableColumn {
  return { name, value, type: 'plain' };
}

function number(name: string, value = `"${name}"`): TableColumn {
  return { name, value, type: 'number' };
}

const STREAM = STREAM_KEYS.map((key) => number(key, `stream_${key}`));

/** The columns of verdicts.csv; `foreign` lists the categories of other taxonomies in which the run has scores. */
export function verdictColumns(
  config: Pick<RunConfig, 'sources'>,
  foreign: readonly string[],
): readonly TableColumn[] {
  return [
    ...[number('seq'), text('path'), number('row'), number('line'), text('id'), text('part'), number('turn')],
    ...[plain('decision'), text('decided_by'), number('score'), ...CATEGORY_KEYS.map((key) => number(key))],
    ...[...foreign].sort().map((name) => number(name)),
    ...[plain('coverage', COVERAGE), text('guard'), plain('fingerprint'), plain('error_code')],
    ...[text('error_message'), TIME],
    ...(replaysGenerations(config) ? STREAM : []),
  ];
}

/** The columns of restricted.csv: the location of an item, and none of its content. */
export const RESTRICTED_COLUMNS: readonly TableColumn[] = [
  ...[number('seq'), text('path'), number('row'), number('line'), text('id'), text('part'), number('turn')],
  ...[plain('decision'), plain('category', 'restricted_by'), plain('file_sha256')],
];

/** `decided_by` in words, as in `decidedByInWords`. */
const IN_WORDS = `
  CASE WHEN decided_by IS NULL THEN ${sqlText(NO_RULE)} ${[
    ...[...RULES_IN_WORDS].map(
      ([rule, words]) => `WHEN decided_by = ${sqlText(rule)} THEN ${sqlText(words)}`,
    ),
    ...[...RULE_LABELS].map(
      ([key, label]) => `
        WHEN starts_with(decided_by, '${key}>=') AND decided_by <> '${key}>='
          THEN ${sqlText(`${label} score at or above `)} || substr(decided_by, ${key.length + 3})`,
    ),
    ...CATEGORIES.map(
      ({ key, label }) =>
        `WHEN decided_by = '${key} flagged' THEN ${sqlText(`Flagged by the guard for ${label}`)}`,
    ),
    `WHEN regexp_full_match(decided_by, '${FOREIGN_CATEGORY}>=.+')
       THEN regexp_replace(decided_by, '>=', ' score at or above ')`,
    `WHEN regexp_full_match(decided_by, '${FOREIGN_CATEGORY} flagged')
       THEN 'Flagged by the guard for ' || regexp_replace(decided_by, ' flagged$', '')`,
  ].join(' ')} ELSE decided_by END`;

/**
 * Categories outside the taxonomy keep the names that the guard gave. Uses CASE, because DuckDB would build a map for
 * every flag.
 */
const CATEGORY_NAMES = `
  CASE WHEN coalesce(len(subcategory_flags), 0) = 0 THEN 'No category' ELSE array_to_string(list_transform(subcategory_flags,
    lambda key: CASE key ${CATEGORIES.map(({ key, label }) => `WHEN '${key}' THEN ${sqlText(label)}`).join(' ')} ELSE key END), '; ') END`;

/** The columns of a run's flagged items, in the order in which a person reads them. */
export function flaggedColumns(config: Pick<RunConfig, 'sources' | 'output'>): readonly FlaggedColumn[] {
  const column = (
    of: TableColumn,
    title: string,
    width: number,
    format: FlaggedColumn['format'] = null,
  ): FlaggedColumn => ({ ...of, title, width, format });
  const content = config.output.includeContent ? [column(text('snippet'), 'Snippet', 60)] : [];
  const streams = replaysGenerations(config) ? STREAM : [];
  return [
    column(plain('decision'), 'Decision', 10),
    column(text('decided_by', IN_WORDS), 'Decided by', 34),
    column(number('score'), 'Score', 8, 'score'),
    column(text('flagged_categories', CATEGORY_NAMES), 'Flagged categories', 30),
    column(plain('guard_flagged', `if(flagged, 'yes', 'no')`), 'Flagged by the guard', 12),
    ...content,
    column(text('path'), 'File', 30),
    column(number('row'), 'Row', 8),
    column(number('line'), 'Line', 8),
    column(text('part'), 'Part', 12),
    column(number('turn'), 'Turn', 6),
    column(text('id'), 'Id', 24),
    column(number('seq'), 'Seq', 10),
    column(plain('modality'), 'Modality', 10),
    column(plain('coverage', COVERAGE), 'Judged', 20),
    column(number('worst_at', 'coverage_worst_at'), 'Worst part at', 12),
    ...CATEGORIES.map(({ key, label }) => column(number(key), label, 12, 'score')),
    column(text('rule', 'decided_by'), 'Rule', 20),
    column(text('guard'), 'Guard', 24),
    column(plain('fingerprint'), 'Fingerprint', 20),
    column(TIME, 'Judged at (UTC)', 19, 'time'),
    ...streams.map((of) => column(of, titleOf(of.name), 14)),
  ];
}

/** Turns `first_flagged_seq` into `First flagged seq`. */
function titleOf(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
