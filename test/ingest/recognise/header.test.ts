import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { SourceConfig } from '../../../src/config/run-config.ts';
import { hasHeader } from '../../../src/formats/csv/header-guess.ts';
import { asked, codeOf, corpus, inspect, readItems, testFolder } from '../read-items.ts';

const LONG = 'word '.repeat(20_000).trim();

describe('the header of a table', () => {
  const folder = testFolder();

  const write = (content: string): string => folder.write('a.csv', content);
  const texts = async (content: string, overrides: Partial<SourceConfig> = {}): Promise<string[]> =>
    (await readItems([corpus(write(content), overrides)])).map(asked);

  test.each([
    ['1,I hate all of you\n2,good morning\n', ['I hate all of you', 'good morning']],
    ['hello there\nI hate all of you\nbye\n', ['hello there', 'I hate all of you', 'bye']],
    ['text\nhello there\ntext\n', ['text', 'hello there', 'text']],
    [`1,${LONG}\n2,good morning\n`, [LONG, 'good morning']],
  ])('is missing: %j', async (content, expected) => {
    expect(await texts(content)).toEqual(expected);
    expect(await inspect([corpus(write(content))])).toMatchObject({ withoutHeader: ['a.csv'] });
  });

  test.each([
    ['review_body\nhello there\n', ['hello there']],
    ['age,remark made by them\n31,hello\n32,bye\n', ['hello', 'bye']],
    ['Timestamp,How do you like our service?\n2024/01/05,hello\n2024/01/06,bye\n', ['hello', 'bye']],
  ])('is there: %j', async (content, expected) => {
    expect(await texts(content)).toEqual(expected);
  });

  const NAMES = ['id', 'text', 'comment', 'post', 'user', 'type', 'alpha', 'beta two', 'label_id'];
  const VALUES = ['red', 'green', 'blue', 'hello there', 'see you at noon', 'bye'];

  test('is missing wherever a cell of the first row comes again below it or is a value', () => {
    const name = fc.constantFrom(...NAMES);
    const value = fc.constantFrom(...VALUES);
    const column = fc.oneof(
      fc.tuple(name, fc.array(value, { minLength: 4, maxLength: 4 })),
      fc.tuple(name, fc.constant(['1', '2', '', '4'])),
    );
    const data = fc.oneof(
      fc.tuple(name, value).map(([again, other]) => [again, [other, 'x', again, other]] as const),
      fc.constantFrom<readonly [string, readonly string[]]>(
        ['7', ['8', '9', '', '10']],
        ['7', ['', '', '', '']],
        ['2024-01-05', ['2024-01-06', 'n/a', '2024-01-07', '']],
        ['2019', ['2020', '2021', '2022', '']],
        ['null', ['x', 'y', 'z', '']],
        ['https://a.example/1', ['x', 'y', 'z', '']],
        ['{"a":1}', ['', '', '', '{}']],
      ),
    );
    const columns = fc.tuple(fc.array(column, { maxLength: 3 }), data, fc.array(column, { maxLength: 3 }));
    fc.assert(
      fc.property(columns, fc.integer({ min: 0, max: 4 }), ([before, sign, after], length) => {
        const all = [...before, sign, ...after];
        fc.pre(length >= 3 || sign[1][2] !== sign[0]);
        const first = all.map(([cell]) => cell);
        const below = Array.from({ length }, (_, row) => all.map(([, cells]) => cells[row]!));
        // A row that is the first one again is judged itself.
        fc.pre(below.every((row) => row.some((cell, at) => cell !== first[at])) || all.length === 1);
        expect(hasHeader([first, ...below], [])).toBe(false);
      }),
      { numRuns: 125 },
    );
  });

  test('is there or not as the user says', async () => {
    expect(await texts('1,one\n2,two\n', { header: 'yes' })).toEqual(['two']);
    expect(await texts('id,text\n1,one\n', { header: 'no', textColumns: ['2'] })).toEqual(['text', 'one']);
    expect(await texts('remarks\nhello there\n', { textColumns: ['remarks'] })).toEqual(['hello there']);
  });

  test('without one, rows count from the first line, and ids are positions', async () => {
    const path = write('7,I hate all of you\n8,"two\nlines"\n9,"bad\n');
    const places = (await readItems([corpus(path)])).map(
      (item) => `${item.id} ${item.source.row} ${item.source.line} ${codeOf(item)}`,
    );
    expect(places).toEqual(['a.csv#1 1 1 ok', 'a.csv#2 2 2 ok', 'a.csv#3 3 4 MALFORMED_ROW']);
    const [first] = await readItems([corpus(path, { idColumn: '1' })]);
    expect(first!.id).toBe('7');
  });
});

const BAD = 'MALFORMED_ROW';

describe('a table whose rows are not as wide as its header', () => {
  const folder = testFolder();

  /** The texts of the items or the codes of their errors, and whether the header is reported as fitted. */
  async function read(content: string, name = 'a.csv') {
    const configs = [corpus(folder.write(name, content))];
    const inspected = await inspect(configs);
    const items = (await readItems(configs)).map(asked);
    return { items, isFitted: inspected.fittedHeaders.includes(name) };
  }

  const rows = (count: number, end: string, first = 1): string =>
    Array.from({ length: count }, (_, index) => `u${first + index},hello ${first + index}${end}`).join('');
  const texts = (count: number, first = 1): string[] =>
    Array.from({ length: count }, (_, index) => `hello ${first + index}`);

  test.each([
    ['a delimiter behind each row', `id,text\n${rows(3, ',\n')}`],
    ['the same with CR', `id,text\r${rows(3, ',\r')}`],
    ['a delimiter behind some rows', `id,text\n${rows(1, '\n')}${rows(1, ',\n', 2)}${rows(1, ',,\n', 3)}`],
    ['a delimiter behind the header and some rows', `id,text,\n${rows(2, '\n')}${rows(1, ',\n', 3)}`],
  ])('has no bad row for %s', async (_name, content) => {
    expect(await read(content)).toEqual({ items: texts(3), isFitted: false });
    const tsv = content.replaceAll(',', '\t');
    expect(await read(tsv, 'a.tsv')).toEqual({ items: texts(3), isFitted: false });
  });

  test.each([
    ['a header of more names', `id,text,approve,reject\n${rows(3, '\n')}`, texts(3)],
    ['a header of fewer names', `id,text\n${rows(3, ',x\n')}`, texts(3)],
    ['one odd row', `id,text,x,y\n${rows(20, '\n')}u0,a,b\n`, [...texts(20), BAD]],
    ['a misquoted row', `id,text,x,y\n"u"0,a\n${rows(20, '\n')}`, [BAD, ...texts(20)]],
    ['odd rows behind those that decide', `id,text,x,y\n${rows(150, '\n')}u0,a,b,c\n`, [...texts(150), BAD]],
    ['row numbers, as R writes them', `text,label\n${rows(3, ',ok\n').replaceAll('u', '')}`, texts(3)],
  ])('is read with the width of its rows, which is said: %s', async (_name, content, items) => {
    expect(await read(content)).toEqual({ items, isFitted: true });
    expect(await read(content.replaceAll(',', '\t'), 'a.tsv')).toEqual({ items, isFitted: true });
  });

  test.each([
    ['of which some fit the header', `id,text\n${rows(1, ', more\n')}${rows(2, '\n')}`, [BAD, ...texts(2)]],
    ['of as many widths as rows', `id,text\nu,a,b\nu,a,b,c\nu,a,b,c,d\n`, [BAD, BAD, BAD]],
  ])('keeps the width of its header over rows %s', async (_name, content, items) => {
    expect(await read(content)).toEqual({ items, isFitted: false });
  });
});
