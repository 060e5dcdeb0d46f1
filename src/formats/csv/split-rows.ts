import { parse } from 'csv-parse/sync';
import type { CsvSeparation } from './csv-dialect.ts';

const LF = 0x0a;
const CR = 0x0d;

/**
 * Cells of rows whose ends and quotes were found to be sound, each without its line break. Many rows at a time: a new
 * parser costs as much as several rows.
 */
export function splitRows(
  rows: readonly Buffer[],
  { delimiter, lineBreak }: Pick<CsvSeparation, 'delimiter' | 'lineBreak'>,
): string[][] {
  const bytes = rows.reduce((sum, row) => sum + row.length + 1, 0);
  const text = Buffer.allocUnsafe(bytes);
  let end = 0;
  for (const row of rows) {
    end += row.copy(text, end);
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
