import { describe, expect, test } from 'vitest';
import { asked, corpus, readItems, testFolder } from '../read-items.ts';

describe('an object around one array of records', () => {
  const folder = testFolder();

  const outcomes = async (json: string): Promise<string[]> =>
    (await readItems([corpus(folder.write('a.json', json))])).map(
      (item) => `${item.source.row}: ${asked(item)}`,
    );

  const examples = [{ text: 'first words' }, { text: 'second words' }];
  const records = ['1: first words', '2: second words'];

  test.each([
    [{ examples }],
    [{ data: { rows: examples, total: 2 } }],
    [{ columns: ['text'], rows: examples, license: 'MIT' }],
  ])('is that array: %j', async (object) => {
    for (const space of [0, 2]) expect(await outcomes(JSON.stringify(object, null, space))).toEqual(records);
  });

  const first = [{ text: 'first words' }];
  test.each<[around: object, also: string[]]>([
    [{ test: [{ text: '我要杀了你' }, { text: 'kill' }] }, ['我要杀了你', 'kill']],
    [{ text: 'Scheisse' }, ['Scheisse']],
    [{ messages: [{ role: 'user', content: 'Scheisse' }] }, ['multiturn']],
    [{ note: '我要杀了你', version: 'v1' }, ['我要杀了你']],
    [{ version: 'v1', license: 'MIT', tags: ['a'] }, []],
  ])('is followed by %j, of which nothing is lost', async (around, also) => {
    for (const space of [0, 1]) {
      const found = await outcomes(JSON.stringify({ train: first, ...around }, null, space));
      expect(found.map((what) => what.replace(/^\d: /, ''))).toEqual(['first words', ...also]);
    }
  });

  test('has a second array beside it, of which the named columns are judged', async () => {
    const test = [{ text: 'bad words here', n: 'other words' }, { n: 'x' }, { text: 'Scheisse' }];
    const file = JSON.stringify({ train: first, test, more: { deeper: [{ text: '杀' }] } });
    const path = folder.write('a.json', file);
    const items = await readItems([corpus(path, { textColumns: ['text'] })]);
    expect(items.map((item) => [item.id, item.part, asked(item)])).toEqual([
      ['a.json#1', null, 'first words'],
      ['a.json#2', 'test[1]', 'bad words here'],
      ['a.json#2#nested2', 'test[2]', 'Scheisse'],
      ['a.json#2#nested3', 'more[1]', '杀'],
    ]);
  });

  test('is read up to what is not JSON, or to where it is cut short', async () => {
    const cut = ['1: first words', '2: MALFORMED_ROW'];
    expect(await outcomes('{"data":[{"text":"first words"}},{"text":"second words"}],"b":1}')).toEqual(cut);
    expect(await outcomes('{"data":[{"text":"first words"}] "b":1}')).toEqual(cut);
    const long = JSON.stringify({ data: Array.from({ length: 20_000 }, () => examples[0]) });
    const found = await outcomes(long.slice(0, -20));
    expect(found.slice(-2)).toEqual(['19999: first words', '20000: MALFORMED_ROW']);
  });
});
