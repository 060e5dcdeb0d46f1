import { stringify } from 'csv-stringify/sync';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { CATEGORY_KEYS } from '../../domain/taxonomy.ts';

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

/** Signs that begin a formula, in any width: whatever compatibility normalisation turns into `=`, `+`, `-` or `@`. */
const SIGN =
  '[=+\\-@\\u207a-\\u207c\\u208a-\\u208c\\ufb29\\ufe62\\ufe63\\ufe66\\ufe6b\\uff0b\\uff0d\\uff1d\\uff20]';

/**
 * What may end a cell for some reader, whatever the file was written with: separators of any width, every control
 * character, and every space but the ordinary one.
 */
const BOUNDARY =
  ',;:|\\uff0c\\uff1a\\uff1b\\uff5c\\p{Cc}\\p{Zl}\\p{Zp}\\xa0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000';

/** What may stand before the sign without being seen. Shares no character with `BOUNDARY`, which keeps matching linear. */
const UNSEEN = '\\p{Cf}\\p{Cs}\\p{Default_Ignorable_Code_Point}\\ufffd"';

/** Most cells have no sign at all, which is found out in a fraction of the time. */
const ANY_SIGN = new RegExp(SIGN, 'u');

/** Up to the sign that would be the first thing seen in a cell. */
const BEFORE_SIGN = new RegExp(`(?:^|[${BOUNDARY}])[ ${UNSEEN}]*(?=${SIGN})`, 'gu');

/**
 * The same where cells are separated by ordinary spaces. There a sign with another space behind it is a cell of its own,
 * and no formula: a dash between words stays as it is.
 */
const BEFORE_SIGN_IN_WORDS = new RegExp(` [${UNSEEN}]*(?=${SIGN}(?! ))`, 'gu');

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
 * another separator than the comma, be it a space; numbers stay numbers.
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

/** An apostrophe stands before every sign that a spreadsheet could take for the beginning of a formula. */
function inertText(text: string): string {
  const marked = ANY_SIGN.test(text)
    ? text.replace(BEFORE_SIGN, "$&'").replace(BEFORE_SIGN_IN_WORDS, "$&'")
    : text;
  return LEADING_CONTROL.test(marked) ? `'${marked}` : marked;
}

/** ISO 8601 in the form that spreadsheets take for a date and a time, to the second. */
function spreadsheetTime(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ');
}
