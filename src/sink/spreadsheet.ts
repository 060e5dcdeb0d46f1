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

/** Cells that a spreadsheet would take for a formula, full-width signs included, or that begin with a control. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/** Cells that cannot be written as they are. */
const SPECIAL = /[",\r\n]/;

/** First line of a table: a byte order mark, so that spreadsheets read UTF-8, and the names of the columns. */
export function tableHead(): string {
  return `${BYTE_ORDER_MARK}${COLUMNS.join(',')}\r\n`;
}

/** One row of a table for people: RFC 4180 with CR LF. No cell can begin a formula; numbers stay numbers. */
export function tableRow(line: OutcomeLine): string {
  const { source, coverage, error, subcategory_scores: scores } = line;
  const judged = coverage === null ? '' : `${coverage.judged} of ${coverage.total} ${coverage.unit}`;
  return (
    `${line.seq},${cell(source.path)},${source.row ?? ''},${source.line ?? ''},${cell(line.id)},` +
    `${line.decision ?? ''},${cell(line.decided_by)},${line.score ?? ''},${scores === null ? NO_SCORES : scoreCells(scores)}` +
    `${judged},${cell(line.endpoint)},${line.fingerprint ?? ''},${error?.code ?? ''},` +
    `${cell(error?.message ?? null)},${spreadsheetTime(line.moderated_at)}\r\n`
  );
}

const NO_SCORES = ','.repeat(CATEGORY_KEYS.length);

function scoreCells(scores: NonNullable<OutcomeLine['subcategory_scores']>): string {
  let cells = '';
  for (const key of CATEGORY_KEYS) cells += `${scores[key] ?? ''},`;
  return cells;
}

/** Most cells need neither quotes nor an apostrophe; asking the library for every one costs more than all the rest. */
function cell(text: string | null): string {
  if (text === null) return '';
  const inert = FORMULA.test(text) ? `'${text}` : text;
  return SPECIAL.test(inert) ? stringify([[inert]], QUOTED) : inert;
}

/** ISO 8601 in the form that spreadsheets take for a date and a time, to the second. */
function spreadsheetTime(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ');
}
