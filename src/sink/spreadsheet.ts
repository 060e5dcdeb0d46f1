import { stringify } from 'csv-stringify/sync';
import type { OutcomeLine } from '../domain/outcome.ts';
import { CATEGORY_KEYS } from '../domain/taxonomy.ts';

const COLUMNS = [
  'seq',
  'path',
  'row',
  'line',
  'id',
  'decision',
  'decided_by',
  'score',
  ...CATEGORY_KEYS,
  'coverage',
  'guard',
  'fingerprint',
  'error_code',
  'error_message',
  'moderated_at_utc',
] as const;

const BYTE_ORDER_MARK = '\ufeff';

/** Whatever cannot stand bare stands in quotes, line ends of any kind too. */
const QUOTED = { eof: false, quoted: true } as const;

/** What some spreadsheet takes for the end of a cell or of a row, whatever the file was written with. */
const SEPARATORS = ',;|\\t\\v\\f\\r\\n\\x85\\u2028\\u2029';

/**
 * The places in a cell where a spreadsheet could begin to read a formula: its beginning, and behind any separator, where
 * what cannot be seen may stand before the sign. Full-width signs count. The two character classes share no character,
 * so that matching stays linear.
 */
const FORMULA = new RegExp(
  `(?:^|[${SEPARATORS}])(?=(?:(?![${SEPARATORS}])[\\p{Cc}\\p{Cf}\\p{Z}\\p{Default_Ignorable_Code_Point}"])*[=+\\-@\\uff1d\\uff0b\\uff0d\\uff20])`,
  'gu',
);

/** Cells that begin with one of these are read in different ways. */
const LEADING_CONTROL = /^[\t\r\n]/;

/** Cells that cannot be written as they are. */
const SPECIAL = /[",\r\n]/;

/** First line of a table: a byte order mark, so that spreadsheets read UTF-8, and the names of the columns. */
export function tableHead(): string {
  return `${BYTE_ORDER_MARK}${COLUMNS.join(',')}\r\n`;
}

/**
 * One row of a table for people: RFC 4180 with CR LF. No cell can begin a formula, even when it is read with
 * another separator than the comma; numbers stay numbers.
 */
export function tableRow(line: OutcomeLine): string {
  const { source, coverage, error, subcategory_scores: scores } = line;
  const judged = coverage === null ? null : `${coverage.judged} of ${coverage.total} ${coverage.unit}`;
  return (
    `${cell(line.seq)},${cell(source.path)},${cell(source.row)},${cell(source.line)},${cell(line.id)},` +
    `${cell(line.decision)},${cell(line.decided_by)},${cell(line.score)},${scores === null ? NO_SCORES : scoreCells(scores)}` +
    `${cell(judged)},${cell(line.endpoint)},${cell(line.fingerprint)},${cell(error?.code)},` +
    `${cell(error?.message)},${cell(spreadsheetTime(line.moderated_at))}\r\n`
  );
}

const NO_SCORES = ','.repeat(CATEGORY_KEYS.length);

function scoreCells(scores: NonNullable<OutcomeLine['subcategory_scores']>): string {
  let cells = '';
  for (const key of CATEGORY_KEYS) cells += `${cell(scores[key])},`;
  return cells;
}

/**
 * A cell. Most texts need neither quotes nor an apostrophe; asking the library for every one costs more than all the
 * rest.
 */
function cell(value: string | number | null | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const inert = inertText(value);
  return SPECIAL.test(inert) ? stringify([[inert]], QUOTED) : inert;
}

/** An apostrophe stands before whatever a spreadsheet could take for the beginning of a formula. */
function inertText(text: string): string {
  const marked = text.replace(FORMULA, "$&'");
  return LEADING_CONTROL.test(marked) ? `'${marked}` : marked;
}

/** ISO 8601 in the form that spreadsheets take for a date and a time, to the second. */
function spreadsheetTime(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ');
}
