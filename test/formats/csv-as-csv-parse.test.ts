import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CsvReader } from '../../src/formats/csv/csv-reader.ts';
import { isFields } from '../../src/formats/record.ts';
import { COMMA, pieceSizes, readAll } from './read-records.ts';

const LIMIT = 10_000;

/** The cells of each row as this project reads them, without a header. */
function cellsRead(text: string, sizes: readonly number[]): unknown[][] {
  const reader = new CsvReader({ ...COMMA, header: false }, LIMIT);
  return readAll(reader, Buffer.from(text), sizes).map(({ content, error }) => {
    if (error !== null || !isFields(content)) throw new Error(`not a row: ${String(error?.code)}`);
    return content.names().map((name) => content.get(name));
  });
}

test('cells without quotes, but with quotes inside, are read as csv-parse reads them', () => {
  const bare = fc
    .string({ unit: fc.constantFrom(...'ab" 5\''), minLength: 1, maxLength: 8 })
    .filter((text) => !text.startsWith('"') && text.trim() !== '');
  const lines = fc
    .integer({ min: 1, max: 4 })
    .chain((width) =>
      fc.array(fc.array(bare, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 6 }),
    );
  fc.assert(
    fc.property(lines, pieceSizes, (rows, sizes) => {
      const text = rows.map((row) => `${row.join(',')}\n`).join('');
      const expected: string[][] = parse(text, { relax_quotes: true });
      expect(cellsRead(text, sizes)).toEqual(expected);
    }),
    { numRuns: 2000 },
  );
});
