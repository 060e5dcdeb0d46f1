import { Failure } from '../../../domain/failure.ts';
import type { CsvDialect } from '../../../formats/csv/csv-dialect.ts';
import { type Delimiter, RowFramer } from '../../../formats/csv/row-framer.ts';
import type { TableHeader } from '../../../formats/csv/table-row.ts';
import { isFields, type ReadRecord } from '../../../formats/record.ts';
import { inertText } from '../../../analysis/tables/formulas.ts';
import type { RowModeration } from '../moderation.ts';
import type { Addition } from './records-writer.ts';

const LF = 0x0a;
const CR = 0x0d;

/** The columns to add to a table, named with the key and an underscore before, and their cells. */
const CELLS: readonly (readonly [name: string, cellOf: (of: RowModeration) => string | number | null])[] = [
  ['decision', ({ decision }) => decision],
  ['score', ({ score }) => score],
  ['categories', ({ categories }) => categories?.join(' ') ?? null],
  ['decided_by', ({ decided_by }) => decided_by],
  ['error', ({ error }) => error],
];

/** The addition to an object: a new last member. Null for a record that is not an object. */
export function memberOf({ content }: ReadRecord, key: string, moderation: RowModeration): Addition | null {
  if (!isFields(content)) return null;
  const names = content.names();
  if (names.includes(key)) throw taken(key, 'the records already have a key');
  const member = `${JSON.stringify(key)}:${JSON.stringify(moderation)}`;
  const escaped = member.replaceAll(
    /[\u007f-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  const text = names.length === 0 ? escaped : `,${escaped}`;
  return (record) => {
    const at = record.lastIndexOf('}');
    return { text, at, upTo: at };
  };
}

/** The value of a column added to a typed table. */
export function columnValue({ content }: ReadRecord, key: string, moderation: RowModeration): string {
  const names = isFields(content) ? content.names() : [];
  if (names.some((name) => name.toLowerCase() === key.toLowerCase())) {
    throw taken(key, 'the table already has a column');
  }
  return JSON.stringify(moderation);
}

/** The addition to the header of a table, after all columns of its rows. */
export function headerCells(
  { names, written }: TableHeader,
  { delimiter }: CsvDialect,
  key: string,
): Addition {
  const added = CELLS.map(([name]) => `${key}_${name}`);
  const known = new Set(names.map((name) => name.toLowerCase()));
  if (added.some((name) => known.has(name.toLowerCase()))) {
    throw taken(key, 'the table already has columns that begin with');
  }
  const missing = delimiter.repeat(Math.max(0, names.length - written));
  return (header) => {
    const at = endOfRow(header);
    return { text: missing + cells(added, delimiter), at, upTo: at };
  };
}

/**
 * The addition to a row of a table, in line with that to its header: it replaces empty cells after the columns. No cell
 * can begin a formula.
 */
export function rowCells(
  moderation: RowModeration,
  { names, written }: TableHeader,
  dialect: CsvDialect,
): Addition {
  const columns = Math.max(names.length, written);
  const added = cells(
    CELLS.map(([, cellOf]) => cellOf(moderation)),
    dialect.delimiter,
  );
  return (row) => {
    const framer = new RowFramer(dialect);
    framer.begin(columns);
    if (framer.scan(row) < 0) framer.finish();
    const upTo = endOfRow(row);
    const missing = dialect.delimiter.repeat(Math.max(0, columns - framer.cells));
    return { text: missing + added, at: Math.min(framer.end, upTo), upTo };
  };
}

function cells(values: readonly (string | number | null)[], delimiter: Delimiter): string {
  return values.map((value) => delimiter + cell(value, delimiter)).join('');
}

/** Offset of the line break that ends a row, or of the end of the text. */
function endOfRow(text: Buffer): number {
  let end = text.length;
  while (end > 0 && (text[end - 1] === LF || text[end - 1] === CR)) end--;
  return end;
}

function cell(value: string | number | null, delimiter: Delimiter): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const inert = inertText(value).replaceAll(/[^\x20-\x7e]/g, '?');
  return inert.includes(delimiter) || inert.includes('"') ? `"${inert.replaceAll('"', '""')}"` : inert;
}

function taken(key: string, what: string): Failure {
  return new Failure('usage', `${what} ${JSON.stringify(key)}: name another one with --annotate-key`);
}
