import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { OutcomeLine } from '../../../src/domain/outcome.ts';
import type { CsvSeparator } from '../../../src/config/run-config.ts';
import { CsvTable } from '../../../src/record/tables/csv.ts';
import { verdictCells, verdictColumns } from '../../../src/record/tables/verdict-rows.ts';
import { outcomeLine } from '../outcome-line.ts';

const LINE = outcomeLine();
const SEPARATORS: readonly CsvSeparator[] = [',', ';', '\t'];

function tableHead(withStreams: boolean, separator: CsvSeparator = ','): string {
  return new CsvTable(separator).head(verdictColumns(withStreams));
}

function tableRow(line: OutcomeLine, withStreams: boolean, separator: CsvSeparator = ','): string {
  return new CsvTable(separator).row(verdictCells(line, withStreams));
}

/** What separates cells for some reader: a list that programs offer, and each character alone for those who choose. */
const DELIMITERS = [',', ';', '\t', '|', ':', ' ', '\u001f', '\u00a0'];

/** A sign that begins a formula, in any width, after what a spreadsheet may show nothing of. */
const BEGINS_FORMULA =
  /^[\p{Cc}\p{Cf}\p{Cs}\p{Z}\p{Default_Ignorable_Code_Point}\ufffd"]*[=+\-@\uff1d\uff0b\uff0d\uff20\ufe62\ufe63\ufe66\ufe6b]/u;

/** A sign with nothing behind it, of any width, is a dash in a text for whoever separates cells at spaces. */
const ALONE = new RegExp(`${BEGINS_FORMULA.source}"?$`, 'u');

/** The cells that a row falls into: as it was written, and for a reader who takes another separator, quotes or not. */
function cellsReadWith(delimiter: string, row: string, separator: CsvSeparator): string[] {
  const asWritten: string[][] = parse(row, { delimiter: separator, record_delimiter: '\r\n' });
  const relaxed: string[][] = parse(row, {
    delimiter,
    relax_quotes: true,
    relax_column_count: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    skip_records_with_error: true,
  });
  const split = row.split(/\r\n|[\r\n\v\f\u0085\u2028\u2029]/).flatMap((line) => line.split(delimiter));
  return [
    ...asWritten.flat(),
    ...relaxed.flat(),
    ...split,
    ...split.map((cell) => cell.replaceAll('""', '"')),
  ];
}

function rowWith(text: string, separator: CsvSeparator = ','): string {
  return tableRow(
    {
      ...LINE,
      id: text,
      fingerprint: text,
      endpoint: text,
      decided_by: text,
      moderated_at: text,
      source: { ...LINE.source, path: text },
      error: { code: 'INTERNAL', message: text, retryable: true },
    },
    false,
    separator,
  );
}

function formulasIn(text: string, separator: CsvSeparator = ','): string[] {
  // Half a pair is written as the replacement character.
  const row = Buffer.from(rowWith(text, separator)).toString();
  return DELIMITERS.flatMap((delimiter) =>
    cellsReadWith(delimiter, row, separator).filter(
      (cell) => BEGINS_FORMULA.test(cell) && !(/\s/.test(delimiter) && ALONE.test(cell)),
    ),
  );
}

it.each([
  'a;=cmd|x',
  'a\t=1+1',
  'a:=1',
  'a =cmd|x',
  'a  =cmd|x',
  'a\u00a0=1',
  'a\u3000@sum(1)',
  'a -1+cmd|x',
  'a = cmd',
  'a\u001f=1',
  'a\0=1',
  'a\u001b-1',
  '\0=1',
  '\u001f=1',
  '\ufeff=1',
  '\u00a0=1',
  '\u200b=1',
  '\ud800=1',
  '\udc00;\ud800=1',
  ' =1',
  'a\n=1',
  'a\r=1',
  'a\r\r\n"=1',
  'a;"=1"',
  'a"";""=1',
  '";=1',
  'a; \u200b@sum',
  'a,-1',
  '\uff1d1',
  'a;\uff0b1',
  '\ufe66cmd',
  'a \ufe63cmd',
])('a cell cannot begin a formula with any separator: %j', (text) => {
  for (const separator of SEPARATORS) expect(formulasIn(text, separator)).toEqual([]);
});

it.each(['= \uff1d ', '= \ufe62 ', '= \u200b= ', '= \ufeff= ', 'a \u2010 \uff0d b'])(
  'a sign between spaces is no formula in any width: %j',
  (text) => {
    expect(formulasIn(text)).toEqual([]);
  },
);

it('no white space, control or invisible character hides the sign of a formula', () => {
  const hides = /[\p{White_Space}\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/u;
  const found: string[] = [];
  for (let code = 0; code < 0x110000; code++) {
    // Of halves of pairs and of tags there are thousands, which are treated alike.
    if (((code >= 0xd800 && code < 0xe000) || code >= 0xe0100) && code % 256 !== 0) continue;
    const character = String.fromCodePoint(code);
    if (!hides.test(character)) continue;
    for (const text of [`${character}=1`, `a;${character}=1`, `a${character};${character}${character}@a`]) {
      if (formulasIn(text).length > 0) found.push(`${code.toString(16)} ${JSON.stringify(text)}`);
    }
    // A control or a space may separate cells as well.
    if (/[\p{Cc}\p{Z}]/u.test(character) && !rowWith(`a${character}=1`).includes("'=1")) {
      found.push(code.toString(16));
    }
  }
  expect(found).toEqual([]);
});

it('no text makes a formula, whatever the row is read with', () => {
  const hostile = fc.constantFrom(
    ...'=+-@;,|:\t\r\n\0\u001f"\'\ufeff\u00a0\u200b \uff1d\ufe62ax1'.split(''),
    '\ud800',
    '\udc00',
    '\u{e0001}',
  );
  fc.assert(
    fc.property(fc.array(hostile, { maxLength: 12 }), fc.constantFrom(...SEPARATORS), (signs, separator) => {
      expect(formulasIn(signs.join(''), separator)).toEqual([]);
    }),
    { numRuns: 3000 },
  );
});

it('a long text takes time in proportion', () => {
  const text = ` ${'\u200b "'.repeat(300_000)};${' '.repeat(1_000_000)}${'-'.repeat(1_000_000)}`;
  expect(rowWith(text).length).toBeGreaterThan(text.length);
});

it('leaves ordinary cells as they are', () => {
  const row = tableRow(
    {
      ...LINE,
      id: '2021-11-02 a - b = c + d',
      endpoint: 'grpc://gpu-1:8001',
      decided_by: 'violent_crimes>=0.8',
      source: { ...LINE.source, path: 'a/b-c (1) x+y@z.csv' },
    },
    false,
  );
  expect(row).toContain(',a/b-c (1) x+y@z.csv,');
  expect(row).toContain(',2021-11-02 a - b = c + d,');
  expect(row).toContain(',grpc://gpu-1:8001,');
  expect(row).toContain(',violent_crimes>=0.8,');
  expect(row).toContain(',2026-11-21 02:00:03\r\n');
});

it('the head of a table begins no formula', () => {
  expect(
    tableHead(true)
      .split(/[,;\t|: ]/)
      .filter((cell) => BEGINS_FORMULA.test(cell)),
  ).toEqual([]);
});

const STREAM = {
  chunks: 12,
  first_caution_seq: 3,
  first_flagged_seq: null,
  shown_share_at_caution: 0.3125,
  shown_share_at_flag: null,
  lag_chunks: 1,
  lag_ms: 4.5,
};

it('a run that replays generations has columns for them behind the others', () => {
  const parsed = (line: OutcomeLine): Record<string, string>[] =>
    parse(tableHead(true) + tableRow(line, true), { bom: true, columns: true });
  expect(parsed({ ...LINE, stream: STREAM })).toEqual([
    expect.objectContaining({
      moderated_at_utc: '2026-11-21 02:00:03',
      chunks: '12',
      first_caution_seq: '3',
      shown_share_at_caution: '0.3125',
      first_flagged_seq: '',
      shown_share_at_flag: '',
    }),
  ]);
  expect(parsed(LINE)).toEqual([expect.objectContaining({ chunks: '', first_caution_seq: '' })]);
  expect(tableHead(true).startsWith(tableHead(false).trimEnd())).toBe(true);
});

it('a row falls into the cells it was written as, whatever the separator', () => {
  const text = fc.string({ unit: fc.constantFrom(...',;\t"\r\n ab'.split('')) });
  fc.assert(
    fc.property(text, fc.constantFrom(...SEPARATORS), (id, separator) => {
      const rows: string[][] = parse(
        tableHead(false, separator) + tableRow({ ...LINE, id }, false, separator),
        {
          bom: true,
          delimiter: separator,
          record_delimiter: '\r\n',
        },
      );
      expect(rows.map((cells) => cells.length)).toEqual([29, 29]);
      expect(rows[1]![4]!.replace(/^'(?=[\t\r\n])/, '')).toBe(id);
    }),
  );
});
