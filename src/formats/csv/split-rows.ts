import { parse } from 'csv-parse/sync';
import type { ByteSpan } from '../record.ts';
import type { CsvSeparation } from './csv-dialect.ts';

const LF = 0x0a;
const CR = 0x0d;

type Separation = Pick<CsvSeparation, 'delimiter' | 'lineBreak'>;

/** The cells of one row. */
export function splitRow(row: Buffer, separation: Separation): string[] {
  return splitRows(row, [{ start: 0, end: row.length }], separation)[0]!;
}

/**
 * Cells of rows whose ends and quotes were found to be sound: ranges of the bytes, in order, each without its line break.
 * Many rows at a time: a new parser costs as much as several rows.
 */
export function splitRows(
  bytes: Buffer,
  rows: readonly ByteSpan[],
  { delimiter, lineBreak }: Separation,
): string[][] {
  const text = Buffer.allocUnsafe(bytes.length + rows.length);
  let end = 0;
  for (const row of rows) {
    end += bytes.copy(text, end, row.start, row.end);
    // Some programs write CR CR LF.
    if (lineBreak === '\n') while (end > 0 && text[end - 1] === CR) end--;
    text[end++] = LF;
  }
  return parse(text.subarray(0, end), {
    delimiter,
    record_delimiter: '\n',
    relax_column_count: true,
    relax_quotes: true,
  });
}
