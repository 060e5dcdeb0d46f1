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

  const shown = user([{ type: 'text', text: 'Look' }, image]);
  const pair = { chosen: [shown, assistant('A')], rejected: 'a b' };
  const hidden = { text: 'a post', 'what they said to me': ['a b'], ['x'.repeat(41)]: ['c d'] };
  const nested = { text: 'a post', comments: [{ text: 'a b' }, { text: 'c d' }], meta: { note: 'e f' } };
  const batch = { custom_id: 'x', url: '/v1/moderations', body: { input: ['a', 'b'] } };

  test.each<[name: string, record: unknown, parts: unknown[]]>([
    ['a text', { text: 'a text' }, [null]],
    ['a prompt and its response, judged together', { prompt: 'Q', response: 'A' }, [null]],
    ['a message with an image', { messages: [shown] }, [null, 'image']],
    ['an image in one side of a pair', pair, ['chosen', 'chosen.image', 'rejected']],
    ['texts in lists and objects', nested, [null, 'comments[1]', 'comments[2]', 'meta[1]']],
    ['a field whose name may be content', hidden, [null, 'nested[1]', 'nested[2]']],
    [
      'a pair inside of a list',
      { text: 'a post', pairs: [{ chosen: 'a b', rejected: 'c d' }] },
      [null, 'pairs[1].chosen', 'pairs[1].rejected'],
    ],
    ['the inputs of a batch request', batch, ['body.input[1]', 'body.input[2]']],
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

test('the ids of items without one do not depend on how their corpus was given', async () => {
  write('uploads/a.csv', 'text\none two\n');
  write('uploads/sub/b.txt', 'three four');
  for (const given of ['uploads', 'uploads/**', 'uploads/{*.csv,sub/*}']) {
    const items = await readItems([corpus(folder.at(given))]);
    expect(items.map(({ id }) => id)).toEqual(['a.csv#1', 'sub/b.txt']);
  }
  expect((await readItems([corpus(folder.at('uploads/a.csv'))]))[0]!.id).toBe('a.csv#1');
});

/** More than fit the stack as the arguments of a call. */
const MANY = 150_000;

test('a record with as many attachments is read', async () => {
  const images = Array<string>(MANY).fill('{"type":"image_url"}').join();
  const path = write('a.jsonl', `{"messages":[{"role":"user","content":[${images}]}]}\n`);
  expect(await readItems([corpus(path)])).toHaveLength(MANY);
});
