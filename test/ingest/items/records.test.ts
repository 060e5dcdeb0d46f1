import { describe, expect, test } from 'vitest';
import type { SourceConfig } from '../../../src/config/run-config.ts';
import type { Item } from '../../../src/domain/item.ts';
import { asked, corpus, PNG, readItems, testFolder } from '../read-items.ts';

const folder = testFolder();

const read = (record: unknown, overrides: Partial<SourceConfig> = {}, limits = {}): Promise<Item[]> =>
  readItems([corpus(folder.jsonl(record), overrides)], limits);

const user = (content: unknown) => ({ role: 'user', content });
const assistant = (content: unknown) => ({ role: 'assistant', content });
const at = (url: string) => ({ type: 'image_url', image_url: { url } });

const ADDRESS = 'https://example.com/a.png';

describe('the part of its record that an item is', () => {
  async function parts(record: unknown, overrides: Partial<SourceConfig> = {}): Promise<unknown[]> {
    return (await read(record, overrides)).map(({ part, turn }) => (turn === null ? part : [part, turn]));
  }

  const shown = user([{ type: 'text', text: 'Look' }, at(ADDRESS)]);
  const pair = { chosen: [shown, assistant('A')], rejected: 'a b' };
  const hidden = { text: 'a post', 'what they said to me': ['a b'], ['x'.repeat(41)]: ['c d'] };
  const nested = { text: 'a post', comments: [{ text: 'a b' }, { text: 'c d' }], meta: { note: 'e f' } };
  const listed = { text: 'a post', pairs: [{ chosen: 'a b', rejected: 'c d' }] };
  const batch = { custom_id: 'x', url: '/v1/moderations', body: { input: ['a', 'b'] } };

  test.each<[name: string, record: unknown, parts: unknown[]]>([
    ['a text', { text: 'a text' }, [null]],
    ['a prompt and its response, judged together', { prompt: 'Q', response: 'A' }, [null]],
    ['a message with an image', { messages: [shown] }, [null, 'image']],
    ['an image in one side of a pair', pair, ['chosen', 'chosen.image', 'rejected']],
    ['texts in lists and objects', nested, [null, 'comments[1]', 'comments[2]', 'meta[1]']],
    ['a field whose name may be content', hidden, [null, 'nested[1]', 'nested[2]']],
    ['a pair inside of a list', listed, [null, 'pairs[1].chosen', 'pairs[1].rejected']],
    ['the inputs of a batch request', batch, ['body.input[1]', 'body.input[2]']],
  ])('%s', async (_name, record, expected) => {
    expect(await parts(record)).toEqual(expected);
  });

  test('the turns of a conversation share its part', async () => {
    const record = { chosen: [user('Q'), assistant('A')], rejected: [user('Q'), assistant('B')] };
    const turns = ['chosen', 'rejected'].flatMap((part) => [1, 2].map((turn) => [part, turn]));
    expect(await parts(record, { audit: 'every-turn' })).toEqual(turns);
  });
});

test('the ids of items without one do not depend on how their corpus was given', async () => {
  folder.write('uploads/a.csv', 'text\none two\n');
  folder.write('uploads/sub/b.txt', 'three four');
  const ids = async (given: string) => (await readItems([corpus(folder.at(given))])).map(({ id }) => id);
  for (const given of ['uploads', 'uploads/**', 'uploads/{*.csv,sub/*}'])
    expect(await ids(given)).toEqual(['a.csv#1', 'sub/b.txt']);
  expect(await ids('uploads/a.csv')).toEqual(['a.csv#1']);
});

test('a record with more attachments than fit the stack as the arguments of a call is read', async () => {
  const images = Array<string>(150_000).fill('{"type":"image_url"}').join();
  const path = folder.write('a.jsonl', `{"messages":[{"role":"user","content":[${images}]}]}\n`);
  expect(await readItems([corpus(path)])).toHaveLength(150_000);
});

describe('images in records', () => {
  const outcome = (item: Item): string => `${item.id} ${asked(item)}`;
  const base64 = PNG.toString('base64');
  const url = `data:image/png;base64,${base64}`;
  const LOOK = { type: 'text', text: 'What is this?' };
  const parts = (part: object) => ({ id: 'x', messages: [user([LOOK, part])] });

  test.each([
    ['OpenAI', at(url)],
    ['OpenAI, as input', { type: 'input_image', image_url: url }],
    ['Anthropic', { type: 'image', source: { type: 'base64', media_type: 'image/png', data: base64 } }],
    ['Hugging Face', { type: 'image', image: url }],
    ['a base64 text in lines', { type: 'image', image: base64.replace(/.{20}/g, '$&\n') }],
  ])('an image in a message as %s has it is an item with its bytes', async (_name, part) => {
    const items = await read(parts(part));
    expect(items.map(outcome)).toEqual(['x multiturn', 'x#image1 image']);
    expect(items[1]!.request).toMatchObject({ modality: 'image', embedded: PNG, caption: null });
    // The same image as a file has the same content.
    const [file] = await readItems([corpus(folder.write('a.png', PNG))]);
    expect(items[1]!.contentSha256).toBe(file!.contentSha256);
  });

  test.each([
    ['at an address', at(ADDRESS), 'UNSUPPORTED_TYPE'],
    ['in a file', { type: 'image', image: 'a.png' }, 'UNSUPPORTED_TYPE'],
    ['no base64', at('data:image/png;base64,%%%'), 'CORRUPT_MEDIA'],
    ['text', at('data:image/png;base64,aGVsbG8='), 'UNSUPPORTED_TYPE'],
    ['too large', at(url), 'ITEM_TOO_LARGE'],
  ])('an image that is %s is an item with an error', async (_name, part, code) => {
    const items = await read(parts(part), {}, code === 'ITEM_TOO_LARGE' ? { itemBytes: 40 } : {});
    expect(items.map(outcome)).toEqual(['x multiturn', `x#image1 ${code}`]);
    expect(items[1]).toMatchObject({ modality: 'image' });
  });

  test('a message of an image alone is left out of the conversation, whose turns keep their numbers', async () => {
    const record = { id: 'x', messages: [user('Hi'), user([at(url)]), assistant('A cat.')] };
    expect((await read(record)).map(outcome)).toEqual(['x multiturn', 'x#image1 image']);
    const turns = ['x#1 multiturn', 'x#3 multiturn', 'x#image1 image'];
    expect((await read(record, { audit: 'every-turn' })).map(outcome)).toEqual(turns);
    expect((await read({ id: 'x', messages: [user([at(url)])] })).map(outcome)).toEqual(['x#image1 image']);
  });

  test('images in batch inputs, in what people say and in nested values', async () => {
    const input = [{ type: 'text', text: 'T' }, at(url)];
    const batch = { custom_id: 'b', method: 'POST', url: '/v1/moderations', body: { input } };
    expect((await read(batch)).map(outcome)).toEqual(['b T', 'b#image1 image']);
    const spoken = { id: 'x', log: [{ speaker: 'ann', content: input }] };
    expect((await read(spoken)).map(outcome)).toEqual(['x multiturn', 'x#image1 image']);
    const nested = { id: 'x', text: 'T', media: [{ src: url }] };
    expect((await read(nested)).map(outcome)).toEqual(['x T', 'x#nested1 image']);
  });
});
