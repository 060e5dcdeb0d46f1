import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SourceConfig } from '../../../src/config/run-config.ts';
import { corpus, readItems, testFolder } from '../read-items.ts';

const folder = testFolder();

const { write } = folder;

describe('the part of its record that an item is', () => {
  async function parts(record: unknown, overrides: Partial<SourceConfig> = {}): Promise<unknown[]> {
    const path = write('a.jsonl', `${JSON.stringify(record)}\n`);
    return (await readItems([corpus(path, overrides)])).map(({ part, turn }) =>
      turn === null ? part : [part, turn],
    );
  }

  const user = (content: unknown) => ({ role: 'user', content });
  const assistant = (content: unknown) => ({ role: 'assistant', content });
  const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };

  test.each<[name: string, record: unknown, parts: unknown[]]>([
    ['a text', { text: 'a text' }, [null]],
    ['a prompt and its response, judged together', { prompt: 'Q', response: 'A' }, [null]],
    [
      'a preference pair and its prompt',
      { prompt: 'Q', chosen: [user('x'), assistant('A')], rejected: [user('x'), assistant('B')] },
      ['chosen', 'rejected', 'prompt'],
    ],
    [
      'a message with an image',
      { messages: [user([{ type: 'text', text: 'Look' }, image])] },
      [null, 'image'],
    ],
    [
      'a message with two images',
      { messages: [user([{ type: 'text', text: 'Look' }, image, image])] },
      [null, 'image[1]', 'image[2]'],
    ],
    [
      'an image in one side of a pair',
      { chosen: [user([{ type: 'text', text: 'Look' }, image]), assistant('A')], rejected: 'a b' },
      ['chosen', 'chosen.image', 'rejected'],
    ],
    [
      'texts in lists and objects',
      { text: 'a post', comments: [{ text: 'a b' }, { text: 'c d' }], meta: { note: 'e f' } },
      [null, 'comments[1]', 'comments[2]', 'meta[1]'],
    ],
    [
      'a field whose name may be content',
      { text: 'a post', 'what they said to me': ['a b'], ['x'.repeat(41)]: ['c d'] },
      [null, 'nested[1]', 'nested[2]'],
    ],
    [
      'a pair inside of a list',
      { text: 'a post', pairs: [{ chosen: 'a b', rejected: 'c d' }] },
      [null, 'pairs[1].chosen', 'pairs[1].rejected'],
    ],
    [
      'the inputs of a batch request',
      { custom_id: 'x', url: '/v1/moderations', body: { input: ['a', 'b'] } },
      ['body.input[1]', 'body.input[2]'],
    ],
  ])('%s', async (_name, record, expected) => {
    expect(await parts(record)).toEqual(expected);
  });

  test('the turns of a conversation share its part', async () => {
    const record = { chosen: [user('Q'), assistant('A')], rejected: [user('Q'), assistant('B')] };
    expect(await parts(record, { audit: 'every-turn' })).toEqual([
      ['chosen', 1],
      ['chosen', 2],
      ['rejected', 1],
      ['rejected', 2],
    ]);
  });
});

describe('the ids of items without an id of their own', () => {
  test('do not depend on how their corpus was given', async () => {
    write('uploads/a.csv', 'text\none two\n');
    write('uploads/sub/b.txt', 'three four');
    const ids = async (path: string) => (await readItems([corpus(path)])).map(({ id }) => id);
    const expected = ['a.csv#1', 'sub/b.txt'];
    expect(await ids(folder.at('uploads'))).toEqual(expected);
    expect(await ids(folder.at('uploads/**'))).toEqual(expected);
    expect(await ids(folder.at('uploads/{*.csv,sub/*}'))).toEqual(expected);
    expect(await ids(folder.at('uploads/a.csv'))).toEqual(['a.csv#1']);
    expect(await ids(folder.at('uploads/*.csv'))).toEqual(['a.csv#1']);
  });

  test('may be those of another corpus, whose paths differ', async () => {
    const paths = ['x/data/a.csv', 'y/data/a.csv'].map((name) => write(name, 'text\none two\n'));
    for (const given of [paths, paths.map(dirname)]) {
      const items = await readItems(given.map((path) => corpus(path)));
      expect(items.map(({ id }) => id)).toEqual(['a.csv#1', 'a.csv#1']);
      expect(new Set(items.map(({ source }) => source.path)).size).toBe(2);
    }
  });
});

/** More than fit the stack as the arguments of a call. */
const MANY = 150_000;

const repeated = (value: unknown): string => Array<string>(MANY).fill(JSON.stringify(value)).join();
const pictures = `[${repeated({ type: 'image_url' })}]`;

test.each<[name: string, record: string, items: number]>([
  ['attachments in a message', `{"messages":[{"role":"user","content":${pictures}}]}`, MANY],
  [
    'attachments on one side of a pair',
    `{"chosen":[{"role":"user","content":${pictures}}],"rejected":"no"}`,
    MANY + 1,
  ],
  ['turns, each judged', `{"chosen":[${repeated(['user', 'a'])}],"rejected":"no"}`, MANY + 1],
])('a record with as many %s is read', async (_, record, count) => {
  const path = folder.write('a.jsonl', `${record}\n`);
  expect(await readItems([corpus(path, { audit: 'every-turn' })])).toHaveLength(count);
});
