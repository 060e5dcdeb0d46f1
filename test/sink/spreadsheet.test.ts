import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { tableRow } from '../../src/sink/spreadsheet.ts';
import { outcomeLine } from './outcome-line.ts';

const LINE = outcomeLine();

/** What a spreadsheet may show nothing of, before the sign that begins a formula. */
const BEGINS_FORMULA =
  /^[\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}"]*[=+\-@\uff1d\uff0b\uff0d\uff20]/u;

/** The cells that a row falls into: as it was written, and for a reader who takes another separator, quotes or not. */
function cellsReadWith(delimiter: string, row: string): string[] {
  const asWritten: string[][] = parse(row, { delimiter: ',', record_delimiter: '\r\n' });
  const split = row.split(/\r\n|[\r\n\u0085\u2028\u2029]/).flatMap((line) => line.split(delimiter));
  return [...asWritten.flat(), ...split, ...split.map((cell) => cell.replaceAll('""', '"'))];
}

function formulasIn(text: string): string[] {
  const row = tableRow({
    ...LINE,
    id: text,
    fingerprint: text,
    endpoint: text,
    moderated_at: text,
    source: { ...LINE.source, path: text },
  });
  return [',', ';', '\t', '|'].flatMap((delimiter) =>
    cellsReadWith(delimiter, row).filter((cell) => BEGINS_FORMULA.test(cell)),
  );
}

it.each([
  'a;=cmd|x',
  'a\t=1+1',
  '\0=1',
  '\u001f=1',
  '\ufeff=1',
  '\u00a0=1',
  '\u200b=1',
  ' =1',
  'a\n=1',
  'a;"=1"',
  'a; \u200b@sum',
  'a,-1',
])('a cell cannot begin a formula with any separator: %j', (text) => {
  expect(formulasIn(text)).toEqual([]);
});

it('no text makes a formula, whatever the row is read with', () => {
  const hostile = fc.constantFrom(...'=+-@;,|\t\r\n\0\u001f"\'\ufeff\u00a0\u200b \uff1dax1');
  fc.assert(
    fc.property(fc.array(hostile, { maxLength: 12 }), (signs) => {
      expect(formulasIn(signs.join(''))).toEqual([]);
    }),
    { numRuns: 3000 },
  );
});

it('leaves ordinary cells as they are', () => {
  const row = tableRow({
    ...LINE,
    id: '2021-11-02 a - b',
    source: { ...LINE.source, path: 'a/b-c (1).csv' },
  });
  expect(row).toContain(',a/b-c (1).csv,');
  expect(row).toContain(',2021-11-02 a - b,');
  expect(row).toContain(',2026-11-21 02:00:03\r\n');
});
