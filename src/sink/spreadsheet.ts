import { stringify } from 'csv-stringify/sync';
import { type OutcomeLine } from '../domain/outcome.ts';
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

/** A line end of any kind has to stand in quotes; the library sees to its own record delimiter only. */
const FORM = { record_delimiter: 'windows', quoted_match: /[\r\n]/ } as const;

/** Cells that a spreadsheet would take for a formula, full-width signs included, or that begin with a control. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

type Cell = string | number | null;

/** First line of a table: a byte order mark, so that spreadsheets read UTF-8, and the names of the columns. */
export function tableHead(): string {
  return BYTE_ORDER_MARK + stringify([COLUMNS], FORM);
}

/** Rows of a table for people: RFC 4180 with CR LF. No cell can begin a formula; numbers stay numbers. */
export function tableRows(lines: readonly OutcomeLine[]): string {
  return stringify(lines.map(cells), FORM);
}

function cells(line: OutcomeLine): Cell[] {
  const row: Cell[] = [
    line.seq,
    inert(line.source.path),
    line.source.row,
    line.source.line,
    inert(line.id),
    line.decision,
    inert(line.decided_by),
    line.score,
  ];
  for (const key of CATEGORY_KEYS) row.push(line.subcategory_scores?.[key] ?? null);
  const { coverage } = line;
  row.push(
    coverage === null ? null : `${coverage.judged} of ${coverage.total} ${coverage.unit}`,
    inert(line.endpoint),
    line.fingerprint,
    line.error?.code ?? null,
    inert(line.error?.message ?? null),
    spreadsheetTime(line.moderated_at),
  );
  return row;
}

function inert(text: string | null): string | null {
  return text !== null && FORMULA.test(text) ? `'${text}` : text;
}

/** ISO 8601 in the form that spreadsheets take for a date and a time, to the second. */
function spreadsheetTime(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ');
}
