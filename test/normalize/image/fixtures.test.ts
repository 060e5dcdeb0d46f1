import { hash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import sharp from 'sharp';
import { afterAll, describe, expect, it } from 'vitest';
import { ImageNormalizer } from '../../../src/normalize/image/image-normalizer.ts';

/** Every file in this folder is a test: `<file>.json` or `<file>.error` next to it holds the expected result. */
const FOLDER = new URL('../../fixtures/images/', import.meta.url);
const names = readdirSync(FOLDER);

const read = (name: string): Promise<Buffer> => readFile(new URL(name, FOLDER));
const normalizer = new ImageNormalizer({ processes: 2 });
afterAll(() => normalizer.close());
const { signal } = new AbortController();
const normalized = async (name: string) => normalizer.image(await read(name), { frames: 8, signal });

/** Size and hash of the pixels, as any decoder reads them from these bytes. */
async function decoded(bytes: Buffer): Promise<{ width: number; height: number; rgb_sha256: string }> {
  const { data, info } = await sharp(bytes).toColourspace('srgb').raw().toBuffer({ resolveWithObject: true });
  expect(info.channels).toBe(3);
  return { width: info.width, height: info.height, rgb_sha256: hash('sha256', data) };
}

describe('pictures come out as the reference has them, pixel for pixel (C-801, C-802)', () => {
  const pictures = names.filter((name) => names.includes(`${name}.json`));
  it.each(pictures)('%s', async (name) => {
    const result = await normalized(name);
    if ('code' in result) throw new Error(`${result.code}: ${result.message}`);
    const frames = [];
    for (const { index, bytes, width, height } of result.frames) {
      const pixels = await decoded(bytes);
      expect({ width, height }).toEqual({ width: pixels.width, height: pixels.height });
      frames.push({ index, ...pixels });
    }
    expect({ total: result.total, frames }).toEqual(JSON.parse(String(await read(`${name}.json`))));
  });
});

const refused = names.filter((name) => names.includes(`${name}.error`));
it.each(refused)('files that are refused get the code of their kind: %s', async (name) => {
  const code = String(await read(`${name}.error`)).trim();
  expect(await normalized(name)).toMatchObject({ code });
});
