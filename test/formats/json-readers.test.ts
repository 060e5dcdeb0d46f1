import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonReader } from '../../src/formats/json/json-reader.ts';
import { isNestedTooDeeply } from '../../src/formats/json/json-record.ts';
import { JsonlReader } from '../../src/formats/json/jsonl-reader.ts';
import type { SourceRecord } from '../../src/formats/record.ts';
import { pieceSizes, plain, readAll, WHOLE } from './read-records.ts';

const LIMIT = 100_000;

const object = fc.dictionary(
  fc.string(),
  fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.string({ unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', ',', '\n', 'é', '\u{1f600}') }),
  ),
  { maxKeys: 4 },
);

const expected = (objects: readonly object[], line: (index: number) => number) =>
  objects.map((value, index) => ({
    row: index + 1,
    line: line(index),
    content: Object.entries(value).map(([name, member]) => [name, asGiven(member)]),
  }));

/** A number that parsing may change is given as it is written. */
const asGiven = (member: unknown) =>
  typeof member === 'number' && !Number.isSafeInteger(member) ? JSON.stringify(member) : member;

const roundTripped = (objects: readonly object[]) => JSON.parse(JSON.stringify(objects)) as object[];

const lines = (text: string, sizes = WHOLE, limit = LIMIT) =>
  readAll(new JsonlReader(limit), Buffer.from(text), sizes);
const array = (text: string | Buffer, sizes = WHOLE, limit = LIMIT) =>
  readAll(new JsonReader('array', limit), Buffer.from(text), sizes);
const codes = (records: readonly SourceRecord[]) => records.map(({ error }) => error?.code ?? null);

const BAD = 'MALFORMED_ROW';

describe('JSON Lines', () => {
  test('are read back as written, however they come in pieces', () => {
    const breaks = fc.constantFrom('\n', '\r\n');
    fc.assert(
      fc.property(fc.array(object), breaks, pieceSizes, (objects, lineBreak, sizes) => {
        const records = lines(objects.map((value) => JSON.stringify(value)).join(lineBreak), sizes);
        expect(records.map(plain)).toEqual(expected(roundTripped(objects), (index) => index + 1));
      }),
    );
  });

  test('with bad lines have one outcome for each, and a byte order mark is bad', () => {
    const records = lines('{"a":1}\n\ufeff{"a":2}\n\n{"a":"\u0001"}\n{"a":"x\ny"}\n{"a":4}\n{"a', [3]);
    expect(records.map(({ line }) => line)).toEqual([1, 2, 4, 5, 6, 7, 8]);
    expect(codes(records)).toEqual([null, BAD, BAD, BAD, BAD, null, BAD]);
  });

  test('beyond the limit are refused, and the next line is read', () => {
    const text = `{"a":1}\n{"a":"${'x'.repeat(500)}"}\n{"a":3}\n`;
    for (const size of [7, 64, 10_000]) {
      const records = lines(text, [size], 100);
      expect(records.map(({ row, line }) => `${row} ${line}`)).toEqual(['1 1', '2 2', '3 3']);
      expect(codes(records)).toEqual([null, 'ITEM_TOO_LARGE', null]);
    }
  });

  test('nested without end are refused, and nothing breaks', () => {
    const deep = '['.repeat(2_000_000);
    expect(codes(lines(`${deep}\n{"a":1}\n`, [65_536], 4_000_000))).toEqual([BAD, null]);
  });
});

describe('a record with a repeated name', () => {
  test.each([
    '{"text":"bad words","text":"hello there"}',
    '{"text":"hello","a":[{"b":{"c":1,"\\u0063":"bad words"}}]}',
    '{"text" : "bad \\"words\\\\", "text"\t:1}',
    '[{"role":"user","content":"bad words","content":"hello"}]',
    '{"__proto__":"bad words","__proto__":"hello"}',
  ])('is bad, and no other one: %s', (text) => {
    expect(codes(lines(`${text}\n{"text":"hello"}\n`))).toEqual([BAD, null]);
    expect(codes(array(`[${text}]`, [3]))).toEqual([BAD]);
  });

  test('is told from one with the same name in several objects, or in its texts', () => {
    const text = '{"a":{"a":[{"a":"\\"a\\":1,"},{"a":"\\\\"}]},"A":":","b":["a",":"]}';
    expect(codes(lines(text))).toEqual([null]);
  });
});

describe('a JSON array', () => {
  const shapes = fc.constantFrom(
    (objects: readonly object[]) => JSON.stringify(objects),
    (objects: readonly object[]) => JSON.stringify(objects, null, 2),
    (objects: readonly object[]) =>
      `[\r\n${objects.map((each) => JSON.stringify(each)).join(',\r\n')}\r\n]\r\n`,
  );

  test('is read back as written, however it comes in pieces', () => {
    fc.assert(
      fc.property(fc.array(object), shapes, pieceSizes, (objects, shape, sizes) => {
        const records = array(shape(objects), sizes);
        const written = expected(roundTripped(objects), (index) => records[index]!.line!);
        expect(records.map(plain)).toEqual(written);
      }),
      { numRuns: 200 },
    );
  });

  test('gives the same records for any text, however it comes in pieces', () => {
    const unit = fc.constantFrom('[', ']', '{', '}', '"', '\\', ',', ':', '\n', ' ', 'a', '1');
    const shape = fc.constantFrom('array' as const, 'values' as const);
    fc.assert(
      fc.property(fc.string({ unit, maxLength: 60 }), shape, pieceSizes, (body, kind, sizes) => {
        const bytes = Buffer.from(`[${body}`);
        const whole = readAll(new JsonReader(kind, LIMIT), bytes, WHOLE).map(plain);
        expect(readAll(new JsonReader(kind, LIMIT), bytes, sizes).map(plain)).toEqual(whole);
      }),
      { numRuns: 500 },
    );
  });

  const rest = ',{"a":3}]';
  test.each<[name: string, text: string, said: readonly (string | null)[], offset: number | null]>([
    ['an element that is not JSON', `[{"a":1},{"a":oops}${rest}`, [null, BAD], 9],
    ['a missing quote', `[{"a":1},\n{"a":"2}${rest}`, [null, BAD], 10],
    ['a line break in a string', `[{"a":1},{"a":"x\ny"}${rest}`, [null, BAD], 9],
    ['a missing brace', `[{"a":1},{"a":{"b":2}${rest}`, [null, BAD], 9],
    ['another bracket than is open', `[{"a":1},{"a":[2}${rest}`, [null, BAD], 9],
    ['a bracket too many', `[{"a":1}],{"a":2}${rest}`, [null, BAD], 9],
    ['a brace too many', `[{"a":1}},{"a":2}${rest}`, [null, BAD], 8],
    ['text after its end', '[{"a":1}] and more', [null, BAD], 10],
    ['a byte order mark inside', `[{"a":1},\ufeff${rest.slice(1)}`, [null, BAD], 9],
    ['its end missing, after a comma', '[{"a":1},', [null, BAD], 9],
    ['its end missing, after an element', '[{"a":1}', [null, BAD], 8],
    ['its end missing, within an element', '[{"a":1},{"a"', [null, BAD], 9],
    ['a number for a record', `[{"a":1},2${rest}`, [null, BAD, null], null],
    ['a number at its end', `[{"a":1},2]`, [null, BAD], null],
    ['no elements', ' [ ] \n', [], null],
  ])('with %s is read up to there, and the offset is named', (_name, text, said, offset) => {
    for (const sizes of [WHOLE, [1], [5]]) {
      const records = array(text, sizes);
      expect(codes(records)).toEqual(said);
      const last = offset === null ? '' : `nothing is read from byte ${offset} of the file on`;
      expect(records.at(-1)?.error?.message ?? '').toContain(last);
    }
  });

  test('with bytes that are not text in one element reads the others', () => {
    const bytes = Buffer.from('[{"a":1},{"a":"?"},{"a":3}]');
    bytes[bytes.indexOf('?')] = 0xef;
    expect(codes(array(bytes, [3]))).toEqual([null, 'INVALID_ENCODING', null]);
  });

  test('with an element beyond the limit reads the next one', () => {
    const long = JSON.stringify({ a: 'x'.repeat(500) });
    for (const sizes of [WHOLE, [16]]) {
      const records = array(`[{"a":1},${long},{"a":3}]`, sizes, 100);
      expect(codes(records)).toEqual([null, 'ITEM_TOO_LARGE', null]);
      expect(records[1]!.error!.message).toContain(`${long.length} bytes`);
    }
  });
});

const MAX_DEPTH = 10_000;

test('the depth of any JSON is told by its brackets alone, not by those in texts', () => {
  const level = fc.constantFrom<[opening: string, closing: string]>(
    ['[', ']'],
    ['{"[{":', '}'],
    ['["\\"[[[",', ']'],
    ['[{},[[]],"]]]\\\\",', ']'],
  );
  const depth = fc.oneof(
    fc.integer({ min: 1, max: 100 }),
    fc.integer({ min: -2, max: 2 }).map((by) => MAX_DEPTH + by),
  );
  fc.assert(
    fc.property(fc.array(level, { minLength: 1, maxLength: 8 }), depth, (levels, depth) => {
      const at = (index: number) => levels[index % levels.length]!;
      const opening = Array.from({ length: depth }, (_, index) => at(index)[0]).join('');
      const closing = Array.from({ length: depth }, (_, index) => at(depth - 1 - index)[1]).join('');
      const text = `${opening}"${'[\\"{'.repeat(100_000)}"${closing}`;
      JSON.parse(text);
      // A level may hold lists of its own, beside the next one.
      const beside = levels.some(([start]) => start.includes('[[]]')) ? 2 : 0;
      const said = isNestedTooDeeply(Buffer.from(text));
      if (depth > MAX_DEPTH) expect(said).toBe(true);
      if (depth + beside <= MAX_DEPTH) expect(said).toBe(false);
    }),
    { numRuns: 200 },
  );
});
