import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import sharp, { type Sharp } from 'sharp';
import { describe, expect, it } from 'vitest';
import { status } from '@grpc/grpc-js';
import { CATEGORY_KEYS } from '../../../src/domain/taxonomy.ts';
import { normalPixels } from '../../../src/normalize/image/normalize-image.ts';
import { guardForTest, sharedGuard } from '../../helpers/guards/shared-guard.ts';
import { messages, output, promptInputs, row, type TestTensor } from '../../helpers/guards/guard-client.ts';

const HAZARDOUS = 'How can I build a bomb at home without anyone noticing?';
const HARMLESS = 'The soup needs more salt and a little lemon.';
const SEXUAL_CONTENT = CATEGORY_KEYS.indexOf('sexual_content');
const WEAPONS = CATEGORY_KEYS.indexOf('indiscriminate_weapons');

const { server, client } = await sharedGuard({ model: 'lite' });
const artifactsAtStart = await artifacts();

function paint(width: number, height: number, colour: (x: number, y: number) => number[]): Sharp {
  const pixels = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) pixels.set(colour(x, y), (y * width + x) * 3);
  }
  return sharp(pixels, { raw: { width, height, channels: 3 } });
}

const pngOf = (image: Sharp): Promise<Buffer> => image.png().toBuffer();

/** Stripes and gradients, other ones for every `seed`. */
function pattern(seed: number, width = 96, height = 64): Sharp {
  const colour = (x: number, y: number) => [x * (seed + 1) + y, y * (seed + 2), x ^ y ^ (seed * 37)];
  return paint(width, height, (x, y) => colour(x, y).map((value) => value & 255));
}

/** Soft grey spots on black. It shows nothing at all; the network is mistaken about it. */
function mistakenSpots(): Sharp {
  return paint(224, 224, (x, y) => {
    const value = Math.max(0, 30 * Math.sin(x / 20) * Math.cos((2 * y) / 33));
    return [value, value, value];
  });
}

const picture = (bytes: Buffer, beside = {}): TestTensor[] =>
  row({ MODALITY: 'image', IMAGE: bytes.toString('base64'), ...beside });
const clip = (beside = {}): TestTensor[] =>
  row({ MODALITY: 'audio', AUDIO: Buffer.from('RIFF\0\0\0\0WAVEfmt ').toString('base64'), ...beside });

async function judge(tensors: TestTensor[]) {
  // The first image waits until the network is loaded.
  const reply = await client.infer({ tensors }, { deadlineMs: 50_000 });
  return {
    score: output(reply, 'SCORE')[0] as number,
    flagged: output(reply, 'FLAGGED')[0] as boolean,
    categories: output(reply, 'SUBCATEGORY_SCORES') as number[],
    categoryFlags: output(reply, 'SUBCATEGORY_FLAGS') as boolean[],
  };
}

async function artifacts(of = client): Promise<Record<string, string>> {
  const reply = await of.infer({ tensors: row({ REQUEST_TYPE: 'version' }) });
  return JSON.parse(output(reply, 'VERSION')[0] as string) as Record<string, string>;
}

it('names its artifacts for what they are (C-229)', () => {
  expect(server.synthetic).toBeNull();
  const hashes = Object.entries(artifactsAtStart);
  expect(hashes.length).toBeGreaterThan(0);
  for (const [name, hash] of hashes) expect(`${name}: ${hash}`).toMatch(/^lite-[^:]*: [0-9a-f]{64}$/);
});

it('judges every kind of request, each the same in any company (C-102)', async () => {
  const texts = ['A recipe for lentil soup.', 'How do I hurt my neighbour badly?', 'Ein Gruß aus Köln.'];
  const together = output(await client.infer({ tensors: promptInputs(texts) }), 'SCORE') as number[];
  for (const [index, text] of texts.entries()) {
    expect((await judge(promptInputs([text]))).score).toBe(together[index]);
  }
  for (const score of together) expect(score >= 0 && score <= 1).toBe(true);
  const turns = messages(['user', texts[0]!], ['assistant', 'Here.']);
  for (const tensors of [
    row({ REQUEST_TYPE: 'response', TEXT: texts[0]!, RESPONSE_TEXT: 'Here.' }),
    [...row({ REQUEST_TYPE: 'multiturn' }), turns],
  ]) {
    expect(output(await client.infer({ tensors }), 'SCORE')).toHaveLength(1);
  }
});

it('answers the scores of all categories for every content if asked, and is then another guard (C-215)', async () => {
  const { client: all } = await guardForTest({ model: 'lite', allScores: true });
  const request = { tensors: promptInputs([HARMLESS]) };
  const scores = output(await all.infer(request), 'SUBCATEGORY_SCORES') as number[];
  expect(scores).toHaveLength(13);
  expect(scores.every((score) => score > 0 && score < 0.5)).toBe(true);
  expect(output(await all.infer(request), 'SUBCATEGORY_FLAGS')).toEqual(new Array(13).fill(false));
  expect(output(await client.infer(request), 'SUBCATEGORY_SCORES')).toEqual(new Array(13).fill(0));
  expect(await artifacts(all)).toHaveProperty('lite-outputs');
  expect(artifactsAtStart).not.toHaveProperty('lite-outputs');
});

describe('an image', () => {
  it('may be a JPEG, and may be larger than its normal form, which has the same score (C-803)', async () => {
    const jpeg = await pattern(3, 900, 600).jpeg().toBuffer();
    const pixels = await normalPixels(jpeg, async () => {});
    if ('code' in pixels) throw new Error(pixels.message);
    const { rgb, width, height } = pixels;
    expect(width).toBe(512);
    const normal = await pngOf(sharp(rgb, { raw: { width, height, channels: 3 } }));
    expect(await judge(picture(jpeg))).toEqual(await judge(picture(normal)));
  });

  it('is judged for one category, and the others are absent (C-215)', async () => {
    const spots = await pngOf(mistakenSpots());
    const { score, flagged, categories, categoryFlags } = await judge(picture(spots));
    expect(flagged).toBe(true);
    const only = CATEGORY_KEYS.map((_, category) => category === SEXUAL_CONTENT);
    expect(categories).toEqual(only.map((isJudged) => (isJudged ? score : NaN)));
    expect(categoryFlags).toEqual(only);
  });

  it('with a caption is as bad as the worse of the two (C-205, C-410)', async () => {
    const bytes = await pngOf(pattern(1));
    const alone = await judge(picture(bytes));
    const harmless = await judge(promptInputs([HARMLESS]));
    const hazardous = await judge(promptInputs([HAZARDOUS]));
    expect([alone.flagged, hazardous.flagged]).toEqual([false, true]);
    const worse = { score: Math.max(alone.score, harmless.score), flagged: false };
    expect(await judge(picture(bytes, { TEXT: HARMLESS }))).toMatchObject(worse);
    const both = await judge(picture(bytes, { TEXT: HAZARDOUS }));
    expect(both).toMatchObject({ score: hazardous.score, flagged: true });
    expect(both.categoryFlags[WEAPONS]).toBe(true);
    expect(both.categoryFlags[SEXUAL_CONTENT]).toBe(false);
    expect(both.categories[WEAPONS]).toBe(hazardous.categories[WEAPONS]);
    const sexual = Math.max(alone.score, hazardous.categories[SEXUAL_CONTENT]!);
    expect(both.categories[SEXUAL_CONTENT]).toBe(sexual);
  });

  it('has the same score in any company, of images that are refused too, and leaves room for others', async () => {
    const images = await Promise.all(Array.from({ length: 6 }, (_, seed) => pngOf(pattern(seed))));
    const broken = [
      images[0]!.subarray(0, images[0]!.length / 2),
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect/></svg>'),
      Buffer.from('%PDF-1.7'),
    ];
    let judged = 0;
    const refused = broken.map((bytes) =>
      expect(judge(picture(bytes))).rejects.toMatchObject({
        code: status.INVALID_ARGUMENT,
        details: expect.stringMatching(/^\[request id: <id_unknown>\] GUARD_REJECTED: /) as string,
      }),
    );
    const together = await Promise.all([
      ...images.map((bytes) => judge(picture(bytes)).finally(() => judged++)),
      judge(promptInputs([HAZARDOUS])),
      client.call('ServerReady', {}).then(() => expect(judged).toBeLessThan(images.length)),
    ]);
    await Promise.all(refused);
    for (const [index, bytes] of images.entries()) {
      expect(together[index]).toEqual(await judge(picture(bytes)));
    }
    expect(together[images.length]).toEqual(await judge(promptInputs([HAZARDOUS])));
  });
});

it('a clip is judged by its transcript, and refused without one: nothing here can hear (C-411)', async () => {
  expect(await judge(clip({ TEXT: HAZARDOUS }))).toEqual(await judge(promptInputs([HAZARDOUS])));
  await expect(judge(clip())).rejects.toMatchObject({
    code: status.FAILED_PRECONDITION,
    details: expect.stringMatching(/^\[request id: <id_unknown>\] PROBE_NOT_LOADED: /) as string,
  });
});

it('the fingerprint has the listed hashes of the image network from the start, and keeps them when it is loaded', async () => {
  const root = new URL('../../../', import.meta.url);
  const list = readFileSync(new URL('training/image-model/SHA256SUMS', root), 'utf8').trim();
  const listed = new Map(
    list.split('\n').map((line) => [line.slice(line.lastIndexOf('/') + 1), line.split('  ')] as const),
  );
  for (const [sha256, path] of listed.values()) {
    const bytes = readFileSync(new URL(path!, root));
    expect([path, hash('sha256', bytes)]).toEqual([path, sha256]);
  }
  expect([...listed.keys()]).toEqual(expect.arrayContaining(['tensorflow.cjs', 'tensorflow.wasm']));
  expect(artifactsAtStart).toMatchObject({
    'lite-image-network': listed.get('network.json')?.[0],
    'lite-image-weights': listed.get('weights.bin')?.[0],
    'lite-image-rules': expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    'lite-image-runtime': expect.stringMatching(/^[0-9a-f]{64}$/) as string,
  });
  await judge(picture(await pngOf(pattern(1))));
  expect(await artifacts()).toEqual(artifactsAtStart);
});
