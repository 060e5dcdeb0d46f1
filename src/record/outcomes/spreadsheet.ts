import { stringify } from 'csv-stringify/sync';
import type { OutcomeLine, StreamLine } from '../../domain/outcome.ts';
import { CATEGORY_KEYS } from '../../domain/taxonomy.ts';

const COLUMNS = [
  'seq',
  'path',
  'row',
  'line',
  'id',
  'part',
  'turn',
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

/** Behind the others, in runs that replay generations only: first column, then what a row has in it. */
const STREAM_COLUMNS: readonly (readonly [name: string, cellOf: (stream: StreamLine) => number | null])[] = [
  ['chunks', (stream) => stream.chunks],
  ['first_caution_seq', (stream) => stream.first_caution_seq],
  ['shown_share_at_caution', (stream) => stream.shown_share_at_caution],
  ['first_flagged_seq', (stream) => stream.first_flagged_seq],
  ['shown_share_at_flag', (stream) => stream.shown_share_at_flag],
];

/** A byte order mark, so that spreadsheets read UTF-8. */
export const TABLE_START = '\ufeff';

/** For cells that need quotes, line breaks of any kind included. */
const QUOTED = { eof: false, quoted: true } as const;

/** Signs that begin a formula, in any width: every character that NFKC turns into `=`, `+`, `-` or `@`. */
const SIGN =
  '[=+\\-@\\u207a-\\u207c\\u208a-\\u208c\\ufb29\\ufe62\\ufe63\\ufe66\\ufe6b\\uff0b\\uff0d\\uff1d\\uff20]';

/**
 * Characters at which some reader may split cells, whatever separator was written: separators of any width, every
 * control character, and every space but U+0020.
 */
const BOUNDARY =
  ',;:|\\uff0c\\uff1a\\uff1b\\uff5c\\p{Cc}\\p{Zl}\\p{Zp}\\xa0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000';

/** Characters before a sign that are not visible. Disjoint from `BOUNDARY`, which keeps matching linear. */
const UNSEEN = '\\p{Cf}\\p{Cs}\\p{Default_Ignorable_Code_Point}\\ufffd"';

/** Fast path: most cells have no sign at all. */
const ANY_SIGN = new RegExp(SIGN, 'u');

/** Everything before a sign that would be the first visible character of a cell. */
const BEFORE_SIGN = new RegExp(`(?:^|[${BOUNDARY}])[ ${UNSEEN}]*(?=${SIGN})`, 'gu');

/**
 * The same where U+0020 separates cells. A sign followed by a space is then a cell of its own and no formula: a dash
 * between words stays as it is.
 */
const BEFORE_SIGN_IN_WORDS = new RegExp(` [${UNSEEN}]*(?=${SIGN}(?! ))`, 'gu');

/** Readers differ in how they treat cells that begin with one of these. */
const LEADING_CONTROL = /^[\t\r\n]/;

/** Cells with one of these need quotes. */
const SPECIAL = /[",\r\n]/;

/** First line of a table: a byte order mark, so that spreadsheets read UTF-8, and the column names. */
export function tableHead(withStreams: boolean): string {
  const columns = withStreams ? [...COLUMNS, ...STREAM_COLUMNS.map(([name]) => name)] : COLUMNS;
  return `${TABLE_START}${columns.join(',')}\r\n`;
}

/**
 * One row of a table for people: RFC 4180 with CRLF. No cell can begin a formula, even when it is read with a separator
 * other than the comma; numbers stay numbers.
 */
export function tableRow(line: OutcomeLine, withStreams: boolean): string {
  const { source, coverage, error, subcategory_scores: scores } = line;
  const judged = coverage === null ? null : `${coverage.judged} of ${coverage.total} ${coverage.unit}`;
  return (
    `${cell(line.seq)},${cell(source.path)},${cell(source.row)},${cell(source.line)},${cell(line.id)},` +
    `${cell(line.part)},${cell(line.turn)},${cell(line.decision)},${cell(line.decided_by)},${cell(line.score)},${scores === null ? NO_SCORES : scoreCells(scores)}` +
    `${cell(judged)},${cell(line.endpoint)},${cell(line.fingerprint)},${cell(error?.code)},` +
    `${cell(error?.message)},${cell(spreadsheetTime(line.moderated_at))}${withStreams ? streamCells(line.stream) : ''}\r\n`
  );
}

/** A row of other columns, with the same rules. */
export function csvRow(cells: readonly (string | number | null | undefined)[]): string {
  return `${cells.map(cell).join(',')}\r\n`;
}

const NO_SCORES = ','.repeat(CATEGORY_KEYS.length);

function scoreCells(scores: NonNullable<OutcomeLine['subcategory_scores']>): string {
  let cells = '';
  for (const key of CATEGORY_KEYS) cells += `${cell(scores[key])},`;
  return cells;
}

function streamCells(stream: StreamLine | null): string {
  return STREAM_COLUMNS.map(([, cellOf]) => `,${cell(stream && cellOf(stream))}`).join('');
}

/** A cell. Most texts need neither quotes nor an apostrophe, and calling the library for each would dominate the time. */
function cell(value: string | number | null | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const inert = inertText(value);
  return SPECIAL.test(inert) ? stringify([[inert]], QUOTED) : inert;
}

/** Puts an apostrophe before every sign that a spreadsheet could take for the beginning of a formula. */
export function inertText(text: string): string {
  const marked = ANY_SIGN.test(text)
    ? text.replace(BEFORE_SIGN, "$&'").replace(BEFORE_SIGN_IN_WORDS, "$&'")
    : text;
  return LEADING_CONTROL.test(marked) ? `'${marked}` : marked;
}

/** ISO 8601 as a date and time that spreadsheets recognise, to the second. */
function spreadsheetTime(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ');
}
