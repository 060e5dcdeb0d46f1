import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CsvReader } from '../../src/formats/csv/csv-reader.ts';
import { JsonReader } from '../../src/formats/json/json-reader.ts';
import { JsonlReader } from '../../src/formats/json/jsonl-reader.ts';
import { WrappedReader } from '../../src/formats/json/wrapped-reader.ts';
import type { RecordReader, SourceRecord } from '../../src/formats/record.ts';
import { COMMA, pieceSizes, plain, readAll, WHOLE } from './read-records.ts';

const LIMIT = 10_000;

/** The texts of the spans of readable records; checks that they ascend and are disjoint. */
function spansOf(records: readonly SourceRecord[], text: string): string[] {
  const bytes = Buffer.from(text);
  let last = 0;
  return records.flatMap((record) => {
    if (record.error !== null || record.span === undefined) return [];
    const { start, end } = record.span;
    expect(start).toBeGreaterThanOrEqual(last);
    expect(end).toBeGreaterThan(start);
    last = end;
    return [bytes.toString('utf8', start, end)];
  });
}

const read = (reader: RecordReader, text: string, sizes = WHOLE) => readAll(reader, Buffer.from(text), sizes);

describe('the span of a record', () => {
  test('of a table is its row, which reads as the same row again, however the table comes in pieces', () => {
    const unit = fc.constantFrom('"', '"', ',', '\n', '\r', ' ', 'a', 'é');
    const breaks = fc.constantFrom('\n' as const, '\r' as const);
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 60 }), breaks, pieceSizes, (rows, lineBreak, sizes) => {
        const dialect = { ...COMMA, lineBreak };
        const header = `a,b${lineBreak}`;
        const text = header + rows;
        const reader = new CsvReader(dialect, LIMIT);
        const records = read(reader, text, sizes);
        expect(reader.bodyStart).toBe(header.length);
        const readable = records.filter(({ error }) => error === null);
        const spans = spansOf(records, text);
        expect(spans).toHaveLength(readable.length);
        spans.forEach((span, index) => {
          const again = read(new CsvReader(dialect, LIMIT), header + span);
          expect(again.map(plain)).toEqual([{ ...(plain(readable[index]!) as object), row: 1, line: 2 }]);
        });
      }),
      { numRuns: 300 },
    );
  });

  test('is known of no table whose header a stray quote opened', () => {
    const reader = new CsvReader(COMMA, LIMIT);
    const text = 'a,"b\n1,2\n3,4"\n5,6\n';
    expect(spansOf(read(reader, text), text)).toEqual(['1,2\n', '3,4"\n', '5,6\n']);
    expect(reader.bodyStart).toBeNull();
  });

  test('of JSON Lines is its line; together with blank lines they are the whole file', () => {
    const line = fc.oneof(
      fc.dictionary(fc.string(), fc.string()).map((value) => JSON.stringify(value)),
      fc.string().map((value) => JSON.stringify(value)),
      fc.constantFrom('', ' ', '\t', '{"cut":'),
    );
    const breaks = fc.constantFrom('\n', '\r\n');
    fc.assert(
      fc.property(fc.array(line), breaks, fc.boolean(), pieceSizes, (lines, lineBreak, ends, sizes) => {
        const text = lines.join(lineBreak) + (ends ? lineBreak : '');
        const spans = spansOf(read(new JsonlReader(LIMIT), text, sizes), text);
        const written = lines.filter((value) => value.trim() !== '' && value !== '{"cut":');
        expect(spans.map((span) => span.replace(/\r?\n$/, ''))).toEqual(written);
      }),
      { numRuns: 200 },
    );
  });

  test('of a JSON array is the text of its element, also inside an object', () => {
    const elements = fc.array(fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 })), { minLength: 1 });
    fc.assert(
      fc.property(elements, fc.constantFrom('', ' ', '\n  '), pieceSizes, (values, space, sizes) => {
        const texts = values.map((value) => JSON.stringify(value));
        const array = `[${space}${texts.join(`${space},${space}`)}${space}]\n`;
        expect(spansOf(read(new JsonReader('array', LIMIT), array, sizes), array)).toEqual(texts);
        const before = '{"é": 1,\n"data": ';
        const wrapped = `${before}${array}, "more": {}}`;
        const start = Buffer.byteLength(before);
        const reader = new WrappedReader({ start, line: 2 }, LIMIT);
        expect(spansOf(read(reader, wrapped, sizes), wrapped)).toEqual(texts);
      }),
      { numRuns: 100 },
    );
  });
});
