import { randomInt } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { OutcomeLine } from '../../../src/domain/outcome.ts';
import type { CsvSeparator } from '../../../src/config/run-config.ts';
import { inertText } from '../../../src/analysis/tables/formulas.ts';
import { outcomeLine } from '../../record/outcome-line.ts';
import { tablesOf } from './tables-of.ts';
import { rounds } from '../../helpers/corpus.ts';

const LINE = outcomeLine();
const SEED = randomInt(2 ** 31);
const SEPARATORS: readonly CsvSeparator[] = [',', ';', '\t'];

/** verdicts.csv of these lines. */
async function tableOf(lines: readonly OutcomeLine[], csvSeparator: CsvSeparator = ','): Promise<string> {
  const tables = await tablesOf(lines, { csvSeparator });
  return tables.get('verdicts.csv')!.toString();
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

function lineWith(text: string, seq: number): OutcomeLine {
  return {
    ...LINE,
    seq,
    id: text,
    endpoint: text,
    decided_by: text,
    source: { ...LINE.source, path: text },
    error: { code: 'INTERNAL', message: text, retryable: true },
  };
}

/** The rows of verdicts.csv with these texts in their cells: each ends before the seq of the next one. */
async function rowsWith(texts: readonly string[], separator: CsvSeparator = ','): Promise<string[]> {
  const table = await tableOf(texts.map(lineWith), separator);
  let end = table.indexOf('\r\n') + 2;
  return texts.map((_, seq) => {
    const start = end;
    const next = table.indexOf(`\r\n${seq + 1}${separator}`, start);
    end = next === -1 ? table.length : next + 2;
    return table.slice(start, end);
  });
}

function formulasIn(row: string, separator: CsvSeparator = ','): string[] {
  return DELIMITERS.flatMap((delimiter) =>
    cellsReadWith(delimiter, row, separator).filter(
      (cell) => BEGINS_FORMULA.test(cell) && !(/\s/.test(delimiter) && ALONE.test(cell)),
    ),
  );
}

it('no white space, control or invisible character hides the sign of a formula', async () => {
  const hides = /[\p{White_Space}\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/u;
  const characters: string[] = [];
  for (let code = 0; code < 0x110000; code++) {
    // Of halves of pairs and of tags there are thousands, which are treated alike.
    if (((code >= 0xd800 && code < 0xe000) || code >= 0xe0100) && code % 256 !== 0) continue;
    const character = String.fromCodePoint(code);
    if (hides.test(character)) characters.push(character);
  }
  const texts = characters.flatMap((each) => [`${each}=1`, `a;${each}=1`, `a${each};${each}${each}@a`]);
  const rows = await rowsWith(texts);
  expect(texts.filter((_, index) => formulasIn(rows[index]!).length > 0)).toEqual([]);
  // A control or a space may separate cells as well.
  const separating = characters.filter((character) => /[\p{Cc}\p{Z}]/u.test(character));
  const apart = await rowsWith(separating.map((character) => `a${character}=1`));
  expect(separating.filter((_, index) => !apart[index]!.includes("'=1"))).toEqual([]);
});

/** Texts of what may make a formula, and half pairs. */
const hostileText = fc
  .array(
    fc.constantFrom(
      ...'=+-@;,|:\t\r\n\0\u001f"\'\ufeff\u00a0\u200b \uff1d\ufe62ax1'.split(''),
      ...['\ud800', '\udc00', '\u{e0001}'],
    ),
    { maxLength: 12 },
  )
  .map((signs) => signs.join(''));

it.each(SEPARATORS)(
  'no text makes a formula, whatever the row is read with: written with %j',
  async (separator) => {
    const texts = fc.sample(hostileText, { numRuns: rounds(1000), seed: SEED });
    const rows = await rowsWith(texts, separator);
    const found = texts.filter((_, index) => formulasIn(rows[index]!, separator).length > 0);
    expect(found, `seed ${SEED}`).toEqual([]);
  },
);

it('rows written by us have the same escapes as those of queries', async () => {
  const texts = fc
    .sample(hostileText, { numRuns: rounds(2000), seed: SEED })
    .map((text) => text.replaceAll(/\p{Cs}/gu, '\ufffd'));
  const table = await tableOf(texts.map((text, seq) => ({ ...LINE, seq, id: text })));
  const rows: Record<string, string>[] = parse(table, { bom: true, columns: true, record_delimiter: '\r\n' });
  expect(rows.map((row) => row['id'])).toEqual(texts.map(inertText));
});

it('a long text takes time in proportion', async () => {
  const text = ` ${'\u200b "'.repeat(100_000)};${' '.repeat(300_000)}${'-'.repeat(300_000)}`;
  expect((await tableOf([{ ...LINE, id: text }])).length).toBeGreaterThan(text.length);
  expect(inertText(text).length).toBeGreaterThan(text.length);
});

it.each(SEPARATORS)('a row falls into the cells it was written as: %j', async (separator) => {
  const text = fc.string({ unit: fc.constantFrom(...',;\t"\r\n ab\0'.split('')) });
  const texts = fc.sample(text, { numRuns: rounds(300), seed: SEED });
  const table = await tableOf(
    texts.map((id, seq) => ({ ...LINE, seq, id })),
    separator,
  );
  const rows: string[][] = parse(table, { bom: true, delimiter: separator, record_delimiter: '\r\n' });
  expect(new Set(rows.map((cells) => cells.length)), `seed ${SEED}`).toEqual(new Set([29]));
  expect(rows.slice(1).map((cells) => cells[4]!.replace(/^'(?=[\t\r\n])/, ''))).toEqual(texts);
});
