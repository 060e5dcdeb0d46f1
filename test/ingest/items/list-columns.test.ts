import { describe, expect, test } from 'vitest';
import type { SourceConfig } from '../../../src/config/run-config.ts';
import { duckdb } from '../../helpers/duckdb.ts';
import { asked, corpus, readItems, testFolder } from '../read-items.ts';

const folder = testFolder();

/** Each item of a file: its id, its part, and its text or its code. */
const items = async (path: string, overrides: Partial<SourceConfig> = {}): Promise<unknown[][]> =>
  (await readItems([corpus(path, overrides)])).map((item) => [item.id, item.part, asked(item)]);

const ENCODED = Buffer.from(Array.from({ length: 400 }, (_, at) => (at * at * 7919) % 251)).toString(
  'base64',
);

describe('a column of lists is judged element by element', () => {
  const comments = (...lists: unknown[][]) =>
    items(folder.jsonl(...lists.map((list) => ({ comments: list }))), { textColumns: ['comments'] });

  test('objects with a text, in the column that was asked for', async () => {
    expect(await comments([{ text: 'one' }, { text: 'two words' }])).toEqual([
      ['a.jsonl#1', 'comments[1]', 'one'],
      ['a.jsonl#1#nested2', 'comments[2]', 'two words'],
    ]);
  });

  test('whose numbers are those of the elements, blank ones included', async () => {
    expect(await comments(['one', ' ', null, 4, 'five'])).toEqual([
      ['a.jsonl#1', 'comments[1]', 'one'],
      ['a.jsonl#1#nested2', 'comments[2]', 'EMPTY_CONTENT'],
      ['a.jsonl#1#nested3', 'comments[3]', 'EMPTY_CONTENT'],
      ['a.jsonl#1#nested4', 'comments[4]', '4'],
      ['a.jsonl#1#nested5', 'comments[5]', 'five'],
    ]);
  });

  test('encoded data, images and a list without elements are items', async () => {
    expect(await comments([ENCODED, 'data:image/png;base64,iVBORw0KGgo=', 'three'], [])).toEqual([
      ['a.jsonl#1', 'comments[1]', 'UNSUPPORTED_TYPE'],
      ['a.jsonl#1#nested2', 'comments[2]', 'image'],
      ['a.jsonl#1#nested3', 'comments[3]', 'three'],
      ['a.jsonl#2', null, 'EMPTY_CONTENT'],
    ]);
  });

  test('lists in Parquet: of strings, and of structs by path', async () => {
    await duckdb(
      `COPY (SELECT 'x' AS id, ['one', 'two_2'] AS comments, [{'text': 'a b', 'by': 'q'}, {'text': 'c', 'by': 'r'}] AS posts)
       TO '${folder.at('a.parquet')}' (FORMAT parquet)`,
    );
    expect(await items(folder.at('a.parquet'), { textColumns: ['comments'] })).toEqual([
      ['x', 'comments[1]', 'one'],
      ['x#nested2', 'comments[2]', 'two_2'],
    ]);
    expect(await items(folder.at('a.parquet'), { textColumns: ['posts.text'] })).toEqual([
      ['x', 'posts.text[1]', 'a b'],
      ['x#nested2', 'posts.text[2]', 'c'],
    ]);
  });
});

describe('a cell of a table that holds a list as JSON', () => {
  const write = (...cells: string[]): string => {
    const rows = cells.map((cell, index) => `${index},"${cell.replaceAll('"', '""')}"`);
    return folder.write('a.csv', ['id,Comment', ...rows, ''].join('\n'));
  };

  test('is judged element by element where all cells of the column are lists', async () => {
    const path = write('["one, two", "three"]', '', '[]', '[ "four" ]');
    expect(await items(path)).toEqual([
      ['0', 'comment[1]', 'one, two'],
      ['0#nested2', 'comment[2]', 'three'],
      ['1', null, 'EMPTY_CONTENT'],
      ['2', null, 'EMPTY_CONTENT'],
      ['3', 'comment[1]', 'four'],
    ]);
  });

  test('decides for the rows behind them: what is no list there is one text', async () => {
    const lists = Array.from({ length: 200 }, () => `["one", "${'two '.repeat(1000)}"]`);
    const found = await items(write(...lists, '["three", ', '["four"]'));
    expect(found).toHaveLength(402);
    const last = ['200', null, '["three", ', '201', 'comment[1]', 'four'];
    expect(found.slice(-2).flat()).toEqual(last);
  });
});
