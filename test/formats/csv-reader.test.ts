import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type CsvDialect, sniffDelimiter, sniffLineBreak } from '../../src/formats/csv/csv-dialect.ts';
import { CsvReader } from '../../src/formats/csv/csv-reader.ts';
import type { SourceRecord } from '../../src/formats/record.ts';
import { COMMA, pieceSizes, plain, readAll, WHOLE } from './read-records.ts';

const LIMIT = 10_000;

const read = (text: string, limit = LIMIT, sizes = WHOLE) =>
  readAll(new CsvReader(COMMA, limit), Buffer.from(text), sizes);

const codeOf = ({ error }: SourceRecord) => error?.code ?? 'ok';

/** Each record as its row and line, and what it is if it is not ok: "bad" where it is malformed, or its code. */
const outcomes = (records: readonly SourceRecord[]) =>
  records.map((record) => {
    const code = codeOf(record).replace('MALFORMED_ROW', 'bad');
    return `${record.row}@${record.line}${code === 'ok' ? '' : ` ${code}`}`;
  });

const insert = (text: string, at: number) => `${text.slice(0, at)}"${text.slice(at)}`;

describe('the CSV reader', () => {
  test('reads back what csv-stringify wrote, however it comes in pieces', () => {
    const cell = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r\n', '\r', ' ', 'a', 'é', '日', '\u{1f600}') }),
    );
    const table = fc.record({
      rows: fc.array(fc.tuple(cell, cell, cell), { maxLength: 12 }),
      delimiter: fc.constantFrom(',' as const, ';' as const, '\t' as const, '|' as const),
      record_delimiter: fc.constantFrom('\n', '\r\n', '\r'),
      quoted: fc.boolean(),
      eof: fc.boolean(),
      sizes: pieceSizes,
    });
    fc.assert(
      fc.property(table, ({ rows, delimiter, record_delimiter, quoted, eof, sizes }) => {
        const header = ['a', 'b', 'c'];
        const options = { delimiter, record_delimiter, quoted, eof, quoted_match: /[\r\n]/ };
        const text = stringify([header, ...rows], options);
        const lineBreak = record_delimiter === '\r' ? '\r' : '\n';
        if (rows.length > 0) expect(sniffLineBreak(Buffer.from(text))).toBe(lineBreak);
        const reader = new CsvReader({ ...COMMA, delimiter, lineBreak }, LIMIT);
        const breaks = lineBreak === '\r' ? /\r\n|\r|\n/ : /\n/;
        const records = readAll(reader, Buffer.from(text), sizes);
        let line = 2;
        const expected = rows.map((cells, index) => {
          const record = { row: index + 1, line, content: header.map((name, at) => [name, cells[at]]) };
          line += 1 + cells.reduce((sum, text) => sum + text.split(breaks).length - 1, 0);
          return record;
        });
        expect(records.map(plain)).toEqual(expected);
      }),
      { numRuns: 150 },
    );
  });

  test('gives the same records for any text, however it comes in pieces', () => {
    const text = fc.string({ unit: fc.constantFrom('"', ',', '\n', '\r', ' ', 'a'), maxLength: 60 });
    fc.assert(
      fc.property(text, fc.constantFrom('\n', '\r'), pieceSizes, (body, lineBreak, sizes) => {
        const bytes = Buffer.from(`a,b${lineBreak}${body}`);
        const dialect: CsvDialect = { ...COMMA, lineBreak };
        const whole = readAll(new CsvReader(dialect, LIMIT), bytes, WHOLE).map(plain);
        expect(readAll(new CsvReader(dialect, LIMIT), bytes, sizes).map(plain)).toEqual(whole);
      }),
      { numRuns: 300 },
    );
  });

  test('a bad row never costs a sound one: rows without quotes all come through', () => {
    const row = fc.oneof(
      { weight: 3, arbitrary: fc.constant('x,y') },
      fc.constantFrom('x,"open', 'x,5" pipe', '"x"y,z', 'x', 'x,y,z', '"'),
    );
    fc.assert(
      fc.property(fc.array(row, { maxLength: 20 }), (rows) => {
        const records = read(`a,b\n${rows.join('\n')}\n`);
        const sound = rows.flatMap((text, index) => (text === 'x,y' ? [index + 2] : []));
        // A quote left open may be closed by a later stray one; then the rows between are inside a cell.
        const opened = rows.findIndex((text) => text === 'x,"open' || text === '"');
        const closing = rows.findLastIndex((text) => text.includes('"'));
        const lines = records.filter(({ error }) => error === null).map(({ line }) => line);
        const safe = sound.filter((line) => opened < 0 || line - 2 < opened || line - 2 > closing);
        expect(lines).toEqual(expect.arrayContaining(safe));
      }),
      { numRuns: 150 },
    );
  });

  const JOINED = 'rows that a stray quote joined are read one by one';
  const OPEN_END = 'a quote left open at the end of the file costs its row';
  const OPEN_HEADER = 'a quote left open in the header takes no row along unnamed';
  const NO_ROWS = 'a header alone leaves nothing';
  const ONLY_HEADER = 'a header that took all lines with it leaves one bad record';
  const LONG_NAME = 'a name in the header may run over several lines';

  test.each([
    ['a ragged row is one bad row', 'a,b\n1,2\n3\n5,6\n', '1@2, 2@3 bad, 3@4'],
    ['a ragged row over several lines is one bad row', 'a,b\n"4\nand\nmore"\n5,6\n', '1@2 bad, 2@5'],
    [JOINED, 'a,b,c\n1,"x,y\n2,m,n\n3,5",y,z\n4,p,q\n', '1@2 bad, 2@3, 3@4 bad, 4@5'],
    [OPEN_END, 'a,b\n1,2\n3,"open\n4,5\n6,7', '1@2, 2@3 bad, 3@4, 4@5'],
    ['lines of nothing or of white space are no rows', 'a,b\n\n1,2\n   \n\r\n3,4\n\n', '1@3, 2@6'],
    [ONLY_HEADER, '"a,b\n1,2\n3,4"\n', '1@1 bad'],
    [ONLY_HEADER, '"a,b\r1,2\r3,4"', '1@1 bad'],
    [ONLY_HEADER, 'a,b\r1,2\r3,4\n', '1@1 bad'],
    [OPEN_HEADER, 'id,"text\n1,x\n2,y"\n3,z\n4,w\n', '1@1 bad, 2@2, 3@3, 4@4, 5@5'],
    [OPEN_HEADER, 'id,"text\n \n\n1,x\n2,y"\n3,z\n', '1@1 bad, 2@4, 3@5, 4@6'],
    [OPEN_HEADER, '"i, d","text\n1,x\n2,y"\n3,z\n', '1@1 bad, 2@2, 3@3, 4@4'],
    [OPEN_HEADER, 'a,"b,c\n1,2,3\n4,5",6\n', '1@1 bad, 2@2, 3@3'],
    [OPEN_HEADER, '"text\nhello\nyou"\nbye\n', '1@1 bad, 2@2, 3@3, 4@4'],
    [OPEN_HEADER, '"a,b\n1,2\n3,4"\n5,6\n', '1@4 bad, 2@1 bad'],
    [LONG_NAME, 'id,"text\n(all of it)",label\n1,x,y\n', '1@3'],
    [LONG_NAME, 'id,"text\n(words, marks)",label\n1,x,y\n', '1@3'],
    [NO_ROWS, 'a,b', ''],
    [NO_ROWS, 'a,b\n', ''],
    [NO_ROWS, 'a,b\r\n\r\n', ''],
    [NO_ROWS, '\n\na,b\n\n', ''],
  ])('%s: %j', (_name, text, expected) => expect(outcomes(read(text)).join(', ')).toBe(expected));

  test.each([
    ['alone', 'a,b\r1,2\r3,4', '1@2, 2@3'],
    ['and an LF at the end', 'a,b\r1,2\r3,4\n', '1@2, 2@3'],
    ['and an LF inside a cell', 'a,b\r1,"2\n2"\r3,4\r', '1@2, 2@4'],
    ['and rows that end otherwise', 'a,b\r1,2\r\n3,4\n', '1@2, 2@3'],
    ['before CR LF, as text mode writes it', 'a,b\r\r\n1,2\r\r\n3,4\r\r\n', '1@2, 2@3'],
    ['and a bad row, which costs no other one', 'a,b\r1,2\n"3,x\n4,5\r\n6,7\n', '1@2, 2@3 bad, 3@4, 4@5'],
  ])('old line breaks: CR %s', (_name, text, expected) => {
    const reader = new CsvReader({ ...COMMA, lineBreak: sniffLineBreak(Buffer.from(text)) }, LIMIT);
    expect(outcomes(readAll(reader, Buffer.from(text), [2])).join(', ')).toBe(expected);
  });

  test('wherever quotes stand, each line is part of a row that is read or lies behind the start of a bad one', () => {
    const quoted = fc.record({ line: fc.nat(7), at: fc.nat(12) });
    const table = fc.record({
      columns: fc.integer({ min: 1, max: 3 }),
      lines: fc.integer({ min: 1, max: 7 }),
      quotes: fc.array(quoted, { maxLength: 4 }),
      limit: fc.constantFrom(40, LIMIT),
      sizes: pieceSizes,
    });
    fc.assert(
      fc.property(table, ({ columns, lines, quotes, limit, sizes }) => {
        const cells = (line: number) => Array.from({ length: columns }, (_, at) => `<${line}${'abc'[at]}>`);
        const rows = Array.from({ length: lines + 1 }, (_, line) => cells(line).join(','));
        const text = quotes.reduce((done, { line, at }) => {
          const index = line % done.length;
          // Two quotes may be a quoted one, and a header with these may well be meant to have many lines.
          if (done[index]!.includes('"')) return done;
          return done.with(index, insert(done[index]!, at % (columns * 5)));
        }, rows);
        const records = read(`${text.join('\n')}\n`, limit, sizes).toSorted((a, b) => a.line! - b.line!);
        for (const [index, row] of text.entries()) {
          if (index === 0 || row.includes('"')) continue;
          const owner = records.findLast(({ line }) => line! <= index + 1);
          expect(owner).toBeDefined();
          if (owner!.error === null) expect(JSON.stringify(plain(owner!))).toContain(`<${index}a>`);
        }
      }),
      { numRuns: 250 },
    );
  });

  test('a sound row behind rows that were joined is read, also when the file is not read once more for them', () => {
    const part = (k: number) => {
      const joined = Array.from({ length: 6 }, (_, row) => `r${row},c,hello\n`).join('');
      return `s${k},"stray,x\n${joined}e,f,5"\nnext${k},c,hello\nlast${k},c,hello\n`;
    };
    const text = `id,cat,text\n${[0, 1, 2, 3, 4].map(part).join('')}`;
    for (const size of [1, 7, 4096]) {
      const judged = JSON.stringify(read(text, 40, [size]).map(plain));
      for (const k of [0, 1, 2, 3, 4]) {
        expect(judged).toContain(`"next${k}"`);
        expect(judged).toContain(`"last${k}"`);
      }
    }
  });

  test('a row beyond the limit is refused unread, and a quote left open beyond it costs its row', () => {
    const long = 'x'.repeat(3000);
    const many = '7,y\n'.repeat(800);
    for (const size of [64, 1000, 100_000]) {
      const reader = new CsvReader(COMMA, 1000);
      const records = readAll(reader, Buffer.from(`a,b\n1,2\n${long},3\n4,5\n6,"open\n${many}`), [size]);
      const expected = ['1@2', '2@3 ITEM_TOO_LARGE', '3@4', '4@5 bad', '5@6'];
      expect(outcomes(records.slice(0, 5))).toEqual(expected);
      expect(records).toHaveLength(804);
    }
  });

  test('a stray quote costs its row, however long what follows is, and a long quoted cell is one row', () => {
    const lines = 'just a line\n'.repeat(2000);
    const rows = 'x,y\n'.repeat(5000);
    const ok = (count: number): string[] => Array<string>(count).fill('ok');
    const bad = (count: number): string[] => Array<string>(count).fill('MALFORMED_ROW');
    for (const [text, expected] of [
      [`a,b\n1,"never closed\n${rows}`, [...bad(1), ...ok(5000)]],
      [`a,b\n1,"never closed\n${lines}`, bad(2001)],
      [`a,b\n1,"never closed\n${lines}2,"x"\n3,y\n`, [...bad(2001), ...ok(2)]],
      [`a\n"never closed\n${lines}`, [...bad(1), ...ok(2000)]],
      [`a,b\n1,"${lines}"\n2,x\n`, ['ITEM_TOO_LARGE', 'ok']],
      [`a\n"${lines}"\nx\n`, ['ITEM_TOO_LARGE', 'ok']],
      [`a,b\n"${lines}${rows}",x\n2,x\n`, ['ITEM_TOO_LARGE', 'ok']],
      [`a,b\n1,${','.repeat(20_000)}\n2,x\n`, ['ITEM_TOO_LARGE', 'ok']],
    ] as const) {
      for (const sizes of [[100], [4096], WHOLE]) {
        expect(read(text, 1000, sizes).map(codeOf)).toEqual(expected);
      }
      if (expected[0] === 'ITEM_TOO_LARGE') continue;
      expect(read(text, 1_000_000).map(codeOf)).toEqual(expected);
    }
  });

  test('a legitimate replacement character is text, bytes that are not UTF-8 are not', () => {
    const bytes = Buffer.concat([Buffer.from('a,b\n1,\ufffd\n2,'), Buffer.of(0xff), Buffer.from('\n3,x\n')]);
    const records = readAll(new CsvReader(COMMA, LIMIT), bytes, [3]);
    expect(records.map(codeOf)).toEqual(['ok', 'INVALID_ENCODING', 'ok']);
  });

  test('no name of a column is special', () => {
    const [record] = read('__proto__,constructor,text\n1,2,3\n');
    expect(plain(record!)).toMatchObject({
      content: [
        ['__proto__', '1'],
        ['constructor', '2'],
        ['text', '3'],
      ],
    });
  });
});

describe('the line break', () => {
  test.each([
    ['a,b\r1,2\r', '\r'],
    ['a,b\r1,2\n', '\r'],
    ['"a\nb",c\r1,2\r', '\r'],
    ['a,b\r\n1,2\r3,4\r', '\n'],
    ['"a\rb",c\n1,2\n', '\n'],
    ['a,b\r\r\n1,2\r\r\n', '\n'],
    ['a,b', '\n'],
  ])('of %j is %j', (text, lineBreak) => expect(sniffLineBreak(Buffer.from(text))).toBe(lineBreak));
});

describe('the delimiter', () => {
  test.each([
    ['a,b;c\n1,2;3\n', ','],
    ['a;b\n1,5;2,5\n3,5;4,5\n', ';'],
    ['text\nno, delimiter, in the header\n', ','],
    ['a\tb\n1,2\t3\n', '\t'],
    ['"a,a"|b\n1|2\n', '|'],
    ['a;b\n1,\r2;3\n4,\r5;6\n', ';'],
    ['', ','],
  ])('of %j is %j', (text, delimiter) => {
    expect(sniffDelimiter(Buffer.from(text), null)).toBe(delimiter);
  });
});
