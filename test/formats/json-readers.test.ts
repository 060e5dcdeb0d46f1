import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonReader } from '../../src/formats/json/json-reader.ts';
import { JsonlReader } from '../../src/formats/json/jsonl-reader.ts';
import { isFields } from '../../src/formats/record.ts';
import { expectLinear } from '../helpers/linear.ts';
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

describe('JSON Lines', () => {
  test('are read back as written, however they come in pieces', () => {
    fc.assert(
      fc.property(
        fc.array(object),
        fc.constantFrom('\n', '\r\n'),
        pieceSizes,
        (objects, lineBreak, sizes) => {
          const text = objects.map((value) => JSON.stringify(value)).join(lineBreak);
          const records = readAll(new JsonlReader(LIMIT), Buffer.from(text), sizes);
          expect(records.map(plain)).toEqual(expected(roundTripped(objects), (index) => index + 1));
        },
      ),
    );
  });

  test('beyond the limit are refused, and the next line is read', () => {
    const text = `{"a":1}\n{"a":"${'x'.repeat(500)}"}\n{"a":3}\n`;
    for (const size of [7, 64, 10_000]) {
      const records = readAll(new JsonlReader(100), Buffer.from(text), [size]);
      expect(records.map(({ row, line, error }) => [row, line, error?.code])).toEqual([
        [1, 1, undefined],
        [2, 2, 'ITEM_TOO_LARGE'],
        [3, 3, undefined],
      ]);
    }
  });

  test('nested without end are refused, and nothing breaks', () => {
    const deep = '['.repeat(2_000_000);
    const records = readAll(new JsonlReader(4_000_000), Buffer.from(`${deep}\n{"a":1}\n`), [65_536]);
    expect(records.map(({ error }) => error?.code)).toEqual(['MALFORMED_ROW', undefined]);
  });
});

describe('a record in which a name stands twice', () => {
  test.each([
    '{"text":"bad words","text":"hello there"}',
    '{"text":"hello","a":[{"b":{"c":1,"\\u0063":"bad words"}}]}',
    '{"text" : "bad \\"words\\\\", "text"\t:1}',
    '[{"role":"user","content":"bad words","content":"hello"}]',
    '{"__proto__":"bad words","__proto__":"hello"}',
  ])('is bad, and no other one: %s', (text) => {
    const records = readAll(new JsonlReader(LIMIT), Buffer.from(`${text}\n{"text":"hello"}\n`), WHOLE);
    expect(records.map(({ error }) => error?.code)).toEqual(['MALFORMED_ROW', undefined]);
    const [only] = readAll(new JsonReader('array', LIMIT), Buffer.from(`[${text}]`), [3]);
    expect(only!.error?.code).toBe('MALFORMED_ROW');
  });

  test('is told from one with the same name in several objects, or in its texts', () => {
    const text = '{"a":{"a":[{"a":"\\"a\\":1,"},{"a":"\\\\"}]},"A":":","b":["a",":"]}';
    const [only] = readAll(new JsonlReader(LIMIT), Buffer.from(text), WHOLE);
    expect(only!.error).toBeNull();
  });
});

describe('a JSON array', () => {
  const shapes = fc.constantFrom(
    (objects: readonly object[]) => JSON.stringify(objects),
    (objects: readonly object[]) => JSON.stringify(objects, null, 2),
    (objects: readonly object[]) =>
      `[\r\n${objects.map((value) => JSON.stringify(value)).join(',\r\n')}\r\n]\r\n`,
  );

  test('is read back as written, however it comes in pieces', () => {
    fc.assert(
      fc.property(fc.array(object), shapes, pieceSizes, (objects, shape, sizes) => {
        const records = readAll(new JsonReader('array', LIMIT), Buffer.from(shape(objects)), sizes);
        const contents = records.map((record) => plain(record));
        expect(contents).toEqual(expected(roundTripped(objects), (index) => records[index]!.line!));
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
      { numRuns: 2000 },
    );
  });

  test.each([
    ['a word that is no value', '[{"a":1},{"a":oops},{"a":3}]'],
    ['a quote that is missing', '[{"a":1},\n{"a":"2},\n{"a":3}]'],
    ['a brace that is missing', '[{"a":1},\n{"a":{"b":2},\n{"a":3}]'],
    ['a bracket too few', '[{"a":1},{"a":[2},{"a":3}]'],
    ['a number out of place', '[{"a":1},2,{"a":3}]'],
  ])('with %s has one bad record', (_name, text) => {
    const codes = readAll(new JsonReader('array', LIMIT), Buffer.from(text), [5]).map(
      ({ error }) => error?.code,
    );
    expect(codes).toEqual([undefined, 'MALFORMED_ROW', undefined]);
  });

  const element = (index: number) =>
    index % 2 === 0
      ? { id: index, text: `word ${index}, {"a":[1]} "word"` }
      : {
          id: index,
          messages: [
            { role: 'user', content: 'a word' },
            { role: 'assistant', content: 'word' },
          ],
        };
  const STYLES: readonly [name: string, write: (values: readonly unknown[]) => string][] = [
    ['on one line', (values) => JSON.stringify(values)],
    ['on a line each', (values) => `[\n${values.map((value) => JSON.stringify(value)).join(',\n')}\n]\n`],
    ['indented', (values) => JSON.stringify(values, null, 2)],
  ];

  test.each(STYLES)('of which a string holds line breaks has one bad record: %s', (_name, write) => {
    const text = write(Array.from({ length: 1000 }, (_, index) => element(index)));
    for (const raw of ['\n', '\r\n\r\n', '\t', '\n{ x }\n', '\n"quoted"\n,\n']) {
      for (const which of [0, 1, 500, 999]) {
        const at = text.indexOf('word', text.indexOf(`"id":${text.includes('": ') ? ' ' : ''}${which},`));
        const bytes = Buffer.from(text.slice(0, at) + raw + text.slice(at));
        for (const sizes of [WHOLE, [61]]) {
          const records = readAll(new JsonReader('array', LIMIT), bytes, sizes);
          const ids = records.flatMap(({ content }) => (isFields(content) ? [content.get('id')] : []));
          const others = Array.from({ length: 1000 }, (_, index) => index).filter((id) => id !== which);
          expect(ids.filter((id) => id !== undefined)).toEqual(others);
          if (!raw.includes('{') && !raw.includes('"')) expect(records).toHaveLength(1000);
        }
      }
    }
  });

  test.each(STYLES.slice(1))(
    'loses no more than an element and its neighbour to a quote: %s',
    (_name, write) => {
      const text = write(Array.from({ length: 10 }, (_, index) => element(index)));
      for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) {
        for (const damaged of [
          text.slice(0, at) + text.slice(at + 1),
          `${text.slice(0, at)}"${text.slice(at)}`,
        ]) {
          const records = readAll(new JsonReader('array', LIMIT), Buffer.from(damaged), WHOLE);
          expect(records.filter(({ error }) => error === null).length, damaged).toBeGreaterThanOrEqual(8);
        }
      }
    },
  );

  test('on one line may lose the rest of it to a quote, and says how many bytes', () => {
    const text = JSON.stringify(Array.from({ length: 10 }, (_, index) => element(index)));
    const at = text.indexOf('"word"', text.indexOf('"id":3,'));
    const damaged = Buffer.from(text.slice(0, at) + text.slice(at + 1));
    const records = readAll(new JsonReader('array', LIMIT), damaged, WHOLE);
    expect(records.map(({ error }) => error?.code)).toEqual([
      ...[undefined, undefined, undefined],
      'MALFORMED_ROW',
    ]);
    expect(records[3]!.error!.message).toMatch(/ bytes were not read$/);
  });

  test('whose elements begin on lines of their own loses none of the others to a damaged byte', () => {
    const turns = ['user', 'assistant'].map((role) => ({ role, content: 'a word' }));
    const bytes = [...Buffer.from('"\\[]{},: \nx\0'), 0xff];
    fc.assert(
      fc.property(
        fc.array(fc.oneof(object, fc.constant({ messages: turns })), { minLength: 3, maxLength: 30 }),
        fc.constantFrom(undefined, 2, '\t'),
        fc.nat(),
        fc.oneof(fc.constant(0), fc.nat()),
        fc.constantFrom(0, 1),
        fc.constantFrom([], ...bytes.map((byte) => [byte])),
        pieceSizes,
        (objects, indent, which, where, removed, added, sizes) => {
          const numbered = roundTripped(objects).map((value, index) => ({ ...value, number: 1000 + index }));
          const written = numbered.map((value) =>
            Buffer.from(
              JSON.stringify([value], null, indent)
                .slice(1, -1)
                .replace(/^\n|\n$/g, ''),
            ),
          );
          const damagedAt = which % written.length;
          const element = written[damagedAt]!;
          const start = element.indexOf('{');
          const at = start + (where % (element.length - start));
          written[damagedAt] = Buffer.concat([
            element.subarray(0, at),
            Buffer.from(added),
            element.subarray(at + removed),
          ]);
          const comma = Buffer.from(',\n');
          const lines = written.flatMap((line, index) => (index === 0 ? [line] : [comma, line]));
          const whole = Buffer.concat([Buffer.from('[\n'), ...lines, Buffer.from('\n]\n')]);
          const records = readAll(new JsonReader('array', LIMIT), whole, sizes);
          const read = records.flatMap(({ content }) => (isFields(content) ? [content.get('number')] : []));
          const all = numbered.map(({ number }) => number);
          const isOther = (number: unknown): boolean => number !== 1000 + damagedAt;
          expect(read.filter((number) => all.includes(number as number) && isOther(number))).toEqual(
            all.filter(isOther),
          );
          // Behind an element that was read, the reader knows how lines open one.
          const isOneError =
            at === start && damagedAt > 0 && removed === 1 && (added[0] === 0x78 || added[0] === 0xff);
          if (isOneError) expect(records.filter(({ error }) => error !== null)).toHaveLength(1);
        },
      ),
    );
  });

  test.each(['"},{"a', '","b', '{"a":["b",\n', '[{"a":"\n},{"b":[[', '{"a":"b"c,{'])(
    'made of %j is read in linear time',
    (part) => {
      expectLinear(
        (length) => `[{"a":1},${part.repeat(length / part.length)}`,
        (text) => readAll(new JsonReader('array', 100_000_000), Buffer.from(text), [65_536]),
      );
    },
  );

  test.each([0xef, 0xbb, 0xbf])('does not skip a byte of a mark between its values (%i)', (byte) => {
    const bytes = Buffer.from('[{"a":1},?{"a":2},{"a":3}]');
    bytes[bytes.indexOf('?')] = byte;
    const codes = readAll(new JsonReader('array', LIMIT), bytes, [3]).map(({ error }) => error?.code);
    expect(codes).toEqual([undefined, 'INVALID_ENCODING', undefined]);
  });

  test('of one value a line may have byte order marks in it', () => {
    const lines = '{"a":1}\n\ufeff{"a":2}\n\ufeff\n{"a":"\u0001"}\n{"a":"x\ny"}\n{"a":4}\n{"a';
    const records = readAll(new JsonlReader(LIMIT), Buffer.from(lines), [3]);
    expect(records.map(({ line, error }) => [line, error?.code])).toEqual([
      [1, undefined],
      [2, undefined],
      [4, 'MALFORMED_ROW'],
      [5, 'MALFORMED_ROW'],
      [6, 'MALFORMED_ROW'],
      [7, undefined],
      [8, 'MALFORMED_ROW'],
    ]);
  });

  test('that is cut short, or goes on after its end, says so', () => {
    const codes = (text: string) =>
      readAll(new JsonReader('array', LIMIT), Buffer.from(text), WHOLE).map(({ error }) => error?.code);
    expect(codes('[{"a":1},')).toEqual([undefined, 'MALFORMED_ROW']);
    expect(codes('[{"a":1}')).toEqual([undefined, 'MALFORMED_ROW']);
    expect(codes('[{"a":1},{"a"')).toEqual([undefined, 'MALFORMED_ROW']);
    expect(codes('[{"a":1}]\n[{"a":2}]')).toEqual([undefined, 'MALFORMED_ROW', undefined]);
    expect(codes('[{"a":1}] and more')).toEqual([undefined, 'MALFORMED_ROW']);
    expect(codes('[{"a":1}]]')).toEqual([undefined, 'MALFORMED_ROW']);
    expect(codes(' [ ] \n')).toEqual([]);
  });

  test.each([
    ['between two elements', '],', 1],
    ['in an element', '"x":1]', 1],
    ['behind the name of a value', '"a":]', 1],
    ['and an opened one', '],[', 1],
  ])('with a bracket too many %s goes on at the next element', (_name, text, bad) => {
    const elements = Array.from({ length: 1000 }, (_, index) => `{"a":${index}}`);
    for (const lineBreak of ['', '\n']) {
      const between = text.startsWith(']') ? text : `,{${text}},`;
      const json = `[${elements.slice(0, 3).join(`,${lineBreak}`)}${lineBreak}${between}${lineBreak}${elements
        .slice(3)
        .join(`,${lineBreak}`)}]`;
      for (const size of [1, 7, json.length]) {
        const records = readAll(new JsonReader('array', LIMIT), Buffer.from(json), [size]);
        expect(records.filter(({ error }) => error === null)).toHaveLength(1000);
        expect(records).toHaveLength(1000 + bad);
      }
    }
  });

  test('says how many bytes of it were given up', () => {
    const rest = '"b":[{"c":1},{"c":2}'.repeat(20);
    const records = readAll(new JsonReader('array', LIMIT), Buffer.from(`[{"a":1},{${rest}`), [7]);
    expect(records.map(({ error }) => error?.message)).toEqual([
      undefined,
      `the record is not closed at the end of the file: ${rest.length + 1} bytes were not read`,
    ]);
    const long = JSON.stringify({ a: 'x'.repeat(500) });
    const [, passed] = readAll(new JsonReader('array', 100), Buffer.from(`[{"a":1},${long}]`), [7]);
    expect(passed!.error!.message).toContain(`${long.length} bytes`);
  });

  test('in which an object is not closed goes on at the next one, also on the same line', () => {
    const elements = Array.from({ length: 500 }, (_, index) => `{"a":{"b":${index}}}`);
    const json = `[{"a":{"b":1},${elements.join(',')}]`;
    for (const limit of [100, LIMIT]) {
      const records = readAll(new JsonReader('array', limit), Buffer.from(json), [16]);
      expect(records.filter(({ error }) => error === null)).toHaveLength(500);
      expect(records[0]!.error!.message).toBe('the record is not closed: 13 bytes were not read');
    }
  });

  test('with closing brackets that nothing owes is read in linear time', () => {
    const text = `[${'{"a":'.repeat(300_000)}${']'.repeat(300_000)}`;
    const records = readAll(new JsonReader('array', 10_000_000), Buffer.from(text), [65_536]);
    expect(records.map(({ error }) => error?.code)).toEqual(['MALFORMED_ROW']);
  });

  test('with an element beyond the limit goes on after it, and holds no more than the limit', () => {
    const text = `[{"a":1},{"a":"${'x'.repeat(500)}"},{"a":3}]`;
    const codes = readAll(new JsonReader('array', 100), Buffer.from(text), [16]).map(
      ({ error }) => error?.code,
    );
    expect(codes).toEqual([undefined, 'ITEM_TOO_LARGE', undefined]);
  });

  test('loses no record to elements that were cut short, however many they are and however long it is', () => {
    const lines = 1000;
    const long = 'x'.repeat(10_000);
    const cut = fc.constantFrom('{"a":["b",', '{"a":{"b":[', '{"a":{"b":[[', '{"a":[{"b":1},');
    const broken = fc.uniqueArray(fc.tuple(fc.nat(lines - 2), cut), {
      maxLength: 12,
      selector: ([at]) => at,
    });
    fc.assert(
      fc.property(broken, (all) => {
        const elements = Array.from({ length: lines }, (_, line) => `{"line":${line},"text":"${long}"},`);
        for (const [line, text] of all) elements[line] = text;
        const bytes = Buffer.from(`[\n${elements.join('\n').slice(0, -1)}\n]\n`);
        const records = readAll(new JsonReader('array', 100_000_000), bytes, [65_536]);
        expect(records.map(({ line, error }) => (error === null ? line : -line!))).toEqual(
          elements.map((_, line) => (all.some(([at]) => at === line) ? -(line + 2) : line + 2)),
        );
      }),
      {
        numRuns: 4,
        examples: [[[0, 1, 2, 3, 10, 20].map((line): [number, '{"a":["b",'] => [line, '{"a":["b",'])]],
      },
    );
  });

  test('of which every line is broken is read in linear time', () => {
    const text = `[${'{"a":{"b":1},\n'.repeat(20_000)}]`;
    const records = readAll(new JsonReader('array', LIMIT), Buffer.from(text), [65_536]);
    expect(records.every(({ error }) => error !== null)).toBe(true);
  });
});
