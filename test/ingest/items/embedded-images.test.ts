import { describe, expect, test } from 'vitest';
import type { SourceConfig } from '../../../src/config/run-config.ts';
import type { Item } from '../../../src/domain/item.ts';
import { pngFile } from '../../helpers/png.ts';
import { asked, corpus, readItems, testFolder } from '../read-items.ts';

const PNG = pngFile({ width: 1, height: 1, depth: 8, colourType: 2 }, Buffer.from('not looked at here'));
const BASE64 = PNG.toString('base64');
const URL = `data:image/png;base64,${BASE64}`;

describe('images in records', () => {
  const folder = testFolder();

  async function read(
    record: unknown,
    overrides: Partial<SourceConfig> = {},
    itemBytes?: number,
  ): Promise<Item[]> {
    const path = folder.write('a.jsonl', `${JSON.stringify(record)}\n`);
    return readItems([corpus(path, overrides)], itemBytes);
  }

  const parts = (...content: unknown[]) => ({ id: 'x', messages: [{ role: 'user', content }] });
  const outcome = (item: Item): string => `${item.id} ${asked(item)}`;
  const LOOK = { type: 'text', text: 'What is this?' };

  test.each([
    ['OpenAI', { type: 'image_url', image_url: { url: URL } }],
    ['OpenAI, as input', { type: 'input_image', image_url: URL }],
    ['Anthropic', { type: 'image', source: { type: 'base64', media_type: 'image/png', data: BASE64 } }],
    ['Hugging Face', { type: 'image', image: URL }],
    ['a base64 text in lines', { type: 'image', image: BASE64.replace(/.{20}/g, '$&\n') }],
  ])('an image in a message as %s has it is an item with its bytes', async (_name, part) => {
    const items = await read(parts(LOOK, part));
    expect(items.map(outcome)).toEqual(['x multiturn', 'x#image1 image']);
    const [, image] = items;
    expect(image!.request).toMatchObject({ modality: 'image', embedded: PNG, caption: null });
    // The same image as a file has the same content.
    const [file] = await readItems([corpus(folder.write('a.png', PNG))]);
    expect(image!.contentSha256).toBe(file!.contentSha256);
  });

  const at = (url: string) => ({ type: 'image_url', image_url: { url } });

  test.each([
    ['at an address', at('https://example.com/a.png'), 'UNSUPPORTED_TYPE'],
    ['in a file', { type: 'image', image: 'a.png' }, 'UNSUPPORTED_TYPE'],
    ['no base64', at('data:image/png;base64,%%%'), 'CORRUPT_MEDIA'],
    ['text', at('data:image/png;base64,aGVsbG8='), 'UNSUPPORTED_TYPE'],
    ['too large', at(URL), 'ITEM_TOO_LARGE'],
  ])('an image that is %s is an item with an error', async (_name, part, code) => {
    const items = await read(parts(LOOK, part), {}, code === 'ITEM_TOO_LARGE' ? 40 : undefined);
    expect(items.map(outcome)).toEqual(['x multiturn', `x#image1 ${code}`]);
    expect(items[1]).toMatchObject({ modality: 'image' });
  });

  test('a message of an image alone is left out of the conversation, whose turns keep their numbers', async () => {
    const image = { role: 'user', content: [at(URL)] };
    const messages = [{ role: 'user', content: 'Hi' }, image, { role: 'assistant', content: 'A cat.' }];
    const record = { id: 'x', messages };
    expect((await read(record)).map(outcome)).toEqual(['x multiturn', 'x#image1 image']);
    expect((await read(record, { audit: 'every-turn' })).map(outcome)).toEqual([
      'x#1 multiturn',
      'x#3 multiturn',
      'x#image1 image',
    ]);
    expect((await read({ id: 'x', messages: [image] })).map(outcome)).toEqual(['x#image1 image']);
  });

  test('images in batch inputs, in what people say and in nested values', async () => {
    const input = [{ type: 'text', text: 'T' }, at(URL)];
    const batch = { custom_id: 'b', method: 'POST', url: '/v1/moderations', body: { input } };
    expect((await read(batch)).map(outcome)).toEqual(['b T', 'b#image1 image']);
    const spoken = { id: 'x', log: [{ speaker: 'ann', content: input }] };
    expect((await read(spoken)).map(outcome)).toEqual(['x multiturn', 'x#image1 image']);
    const nested = { id: 'x', text: 'T', media: [{ src: URL }] };
    expect((await read(nested)).map(outcome)).toEqual(['x T', 'x#nested1 image']);
  });
});
