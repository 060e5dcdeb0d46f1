import { readFile } from 'node:fs/promises';
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { chooseFrames, normalizeImage, normalPixels } from '../../../src/normalize/image/normalize-image.ts';
import type { NormalFrame, NormalImage, Pixels } from '../../../src/normalize/image/normal-image.ts';
import { gifFrames, tooLarge } from '../../helpers/images/image-bombs.ts';
import { drawn, drawnPixels } from '../../helpers/pictures.ts';
import { pngChunk, pngFile } from '../../helpers/png.ts';

async function normal(bytes: Buffer, frames = 8): Promise<NormalImage> {
  const result = await normalizeImage(bytes, { frames }, async () => {});
  if ('code' in result) throw new Error(`${result.code}: ${result.message}`);
  return result;
}

async function pixelsOf(bytes: Buffer): Promise<Pixels> {
  const pixels = await normalPixels(bytes, async () => {});
  if ('code' in pixels) throw new Error(`${pixels.code}: ${pixels.message}`);
  return pixels;
}

const first = async (bytes: Buffer): Promise<NormalFrame> => (await normal(bytes)).frames[0]!;

describe('what is sent', () => {
  it.each([
    ['a JPEG that is small enough', drawn(300, 200).jpeg()],
    ['a grey JPEG', drawn(300, 200).greyscale().jpeg()],
    ['a lossy WebP', drawn(300, 200).webp()],
    ['a PNG that is packed better', drawn(300, 200).png({ palette: true, colours: 4 })],
  ])('is the original: %s', async (_, original) => {
    const bytes = await original.toBuffer();
    const frame = await first(bytes);
    expect(frame.form).toBe('original');
    expect(frame.bytes).toBe(bytes);
  });

  it.each([
    ['larger than 512', drawn(513, 20).jpeg()],
    ['turned by its orientation', drawn(300, 200).jpeg().withMetadata({ orientation: 6 })],
    ['with a colour profile', drawn(300, 200).jpeg().withIccProfile('p3')],
    ['with an alpha channel', drawn(300, 200).ensureAlpha(0.5).webp()],
    ['CMYK', drawn(300, 200).toColourspace('cmyk').jpeg()],
    ['16 bits deep', drawn(20, 10).toColourspace('rgb16').png()],
    ['TIFF', drawn(300, 200).tiff({ compression: 'jpeg' })],
    ['GIF', drawn(300, 200).gif({ colours: 4 })],
    ['AVIF', drawn(300, 200).avif()],
    ['packed worse than ours', drawn(300, 200).png({ compressionLevel: 0 })],
  ])('is a PNG of the normal form for an image that is %s', async (_, original) => {
    const bytes = await original.toBuffer();
    const { form, bytes: sent, width, height } = await first(bytes);
    expect(form).toBe('png');
    const header = await sharp(sent).metadata();
    expect(header).toMatchObject({ format: 'png', width, height, channels: 3, depth: 'uchar' });
    expect([header.hasAlpha, header.hasProfile, header.orientation]).toEqual([false, false, undefined]);
    const { rgb } = await pixelsOf(bytes);
    expect((await sharp(sent).raw().toBuffer()).equals(rgb)).toBe(true);
  });

  it('is a PNG where a colour chunk may be read differently', async () => {
    const plain = await drawn(60, 40).png({ palette: true, colours: 4 }).toBuffer();
    expect((await first(plain)).form).toBe('original');
    expect((await first(withChunk(plain, 'gAMA', 100_000, 4))).form).toBe('png');
  });
});

/** The outcome of an image that is not to be decoded. */
const refuse = (bytes: Buffer) =>
  normalizeImage(bytes, { frames: 8 }, () => Promise.reject(new Error('must not be decoded')));

/** A PNG with one more chunk, of one number in front of zeros, behind its header. */
function withChunk(png: Buffer, type: string, number: number, bytes: number): Buffer {
  const data = Buffer.alloc(bytes);
  data.writeUInt32BE(number);
  return Buffer.concat([png.subarray(0, 33), pngChunk(type, data), png.subarray(33)]);
}

describe('refusals before decoding', () => {
  const rows = Buffer.alloc(20_000 * 2501); // one bit per pixel, and a filter byte per row
  const bomb = pngFile({ width: 20_000, height: 20_000, depth: 1, colourType: 0 }, deflateSync(rows));

  it('believes a header about its size, whatever data follows', async () => {
    const header = { width: 2 ** 31 - 1, height: 2 ** 31 - 1, depth: 8, colourType: 2 };
    const lie = pngFile(header, deflateSync('x'));
    expect(['MEDIA_TOO_LARGE', 'CORRUPT_MEDIA']).toContain(((await refuse(lie)) as { code: string }).code);
  });

  it.each([
    ['pixels', bomb],
    ['pixels', gifFrames(12_000, 12_000, 1)],
    ['MiB', gifFrames(8_500, 8_500, 1)],
    ['in total', gifFrames(1_000, 1_000, 1_300)],
    ['frames', gifFrames(1, 1, 66_000)],
  ])('refuses a file that has too many %s', async (reason, bytes) => {
    expect(await refuse(bytes)).toMatchObject(tooLarge(reason));
  });

  it.each([
    ['a JPEG', 3, drawn(200, 100).jpeg()],
    ['a progressive JPEG', 9, drawn(200, 100).jpeg({ progressive: true })],
    ['a progressive JPEG in CMYK', 15, drawn(200, 100).toColourspace('cmyk').jpeg({ progressive: true })],
    ['a PNG', 3, drawn(200, 100).png()],
    ['an interlaced PNG', 6, drawn(200, 100).png({ progressive: true })],
    ['an interlaced PNG of 16 bits', 9, drawn(200, 100).toColourspace('rgb16').png({ progressive: true })],
    ['a WebP', 8, drawn(200, 100).webp()],
    ['an AVIF', 18, drawn(200, 100).avif()],
    ['a GIF', 15, drawn(200, 100).gif()],
    ['a TIFF', 6, drawn(200, 100).tiff()],
  ])('asks for room once, for what its format needs a pixel: %s', async (_, perPixel, picture) => {
    const asked: number[] = [];
    await normalizeImage(await picture.toBuffer(), { frames: 8 }, async (bytes) => void asked.push(bytes));
    expect(asked).toEqual([200 * 100 * perPixel]);
  });

  it('refuses what fits by its pixels, but not by the memory that they take', async () => {
    // the size of a small picture, overwritten
    const avif = await drawn(64, 48).avif().toBuffer();
    const size = avif.indexOf('ispe') + 8;
    avif.writeUInt32BE(11_000, size);
    avif.writeUInt32BE(11_000, size + 4);
    expect(await refuse(avif)).toMatchObject(tooLarge('MiB'));
  });
});

describe('files of several frames', () => {
  it('paints the frames of a GIF over each other, with what was transparent in the first', async () => {
    // frame 0: indexes 0 and 1, of which 1 is transparent; frame 1: indexes 1 and 0, and 1 shows what lies below
    const frame = (data: number): number[] => [
      ...[0x21, 0xf9, 4, 1, 0, 0, 1, 0, 0x2c, 0, 0, 0, 0, 2, 0, 1, 0, 0],
      ...[2, 2, data, 0x0a, 0],
    ];
    const header = [...Buffer.from('GIF89a'), 2, 0, 1, 0, 0x80, 0, 0, 10, 20, 30, 40, 50, 60];
    const gif = Buffer.from([...header, ...frame(0x44), ...frame(0x0c), 0x3b]);
    const { frames } = await normal(gif);
    const pixels = await Promise.all(frames.map(({ bytes }) => sharp(bytes).raw().toBuffer()));
    expect(pixels.map((rgb) => [...rgb])).toEqual([
      [10, 20, 30, 40, 50, 60],
      [10, 20, 30, 10, 20, 30],
    ]);
  });

  it('chooses evenly spaced ones, the first among them', () => {
    expect(chooseFrames(3, 8)).toEqual([0, 1, 2]);
    expect(chooseFrames(20, 4)).toEqual([0, 5, 10, 15]);
    expect(chooseFrames(11, 8)).toEqual([0, 1, 2, 4, 5, 6, 8, 9]);
    expect(chooseFrames(100, 1)).toEqual([0]);
  });

  it('counts the frames of an animated PNG that are not decoded', async () => {
    const still = await drawn(30, 20).png().toBuffer();
    const { frames, total } = await normal(withChunk(still, 'acTL', 5, 8));
    // its default picture, which is none of the five
    expect([frames.length, total]).toEqual([1, 6]);
  });
});

describe('AVIF', () => {
  const lossless = { lossless: true, chromaSubsampling: '4:4:4' };

  it('is read to the pixel where it is stored without loss', async () => {
    const { rgb } = await pixelsOf(await drawn(300, 200).avif(lossless).toBuffer());
    expect(drawnPixels(300, 200).equals(rgb)).toBe(true);
  });

  it('has its pixels as they are stored, not as the container turns them', async () => {
    const bytes = await drawn(300, 200).withMetadata({ orientation: 6 }).avif(lossless).toBuffer();
    expect(bytes.includes('irot')).toBe(true);
    expect(await sharp(bytes).metadata()).toMatchObject({ width: 200, height: 300 });
    const pixels = await pixelsOf(bytes);
    expect([pixels.width, pixels.height]).toEqual([300, 200]);
    expect(drawnPixels(300, 200).equals(pixels.rgb)).toBe(true);
  });
});

describe('HEIC', () => {
  const file = (name: string) => readFile(new URL(`../../fixtures/heic/${name}.heic`, import.meta.url));

  /** The picture of the fixtures: gradients, and a hard edge. */
  const picture = Buffer.from(
    Array.from({ length: 64 }, (_, y) =>
      Array.from({ length: 96 }, (__, x) => [(x * 255) / 96, (y * 255) / 64, x < 48 ? 191 : 0]),
    ).flat(2),
  );
  const distance = (one: Uint8Array, other: Uint8Array): number =>
    one.reduce((sum, value, at) => sum + Math.abs(value - other[at]!), 0) / one.length;

  it.each([
    ['is read to the pixel where it is stored without loss', 'lossless', 0.5],
    ['is read as the same picture where it is stored with loss', 'lossy', 4],
    ['has the upper 8 of its 10 bits per channel', 'ten-bits', 2],
  ])('%s', async (_, name, most) => {
    const { width, height, rgb } = await pixelsOf(await file(name));
    expect([width, height]).toEqual([96, 64]);
    expect(distance(rgb, picture)).toBeLessThan(most);
    expect((await first(await file(name))).form).toBe('png');
  });

  it('has its pixels as they are stored, not as the container turns them', async () => {
    const turned = await file('lossless');
    const { rgb } = await pixelsOf(await file('lossless'));
    const property = turned.indexOf('pixi');
    turned.write('irot', property, 'latin1');
    turned[property + 4] = 1;
    const pixels = await pixelsOf(turned);
    expect([pixels.width, pixels.height]).toEqual([96, 64]);
    expect(Buffer.from(pixels.rgb).equals(rgb)).toBe(true);
  });

  it('has a frame for each of its images, the primary one first', async () => {
    const { frames, total } = await normal(await file('two'));
    const of = await Promise.all(frames.map(({ bytes }) => sharp(bytes).raw().toBuffer()));
    expect([total, of.map((rgb) => Math.round(distance(rgb, picture)) > 50)]).toEqual([2, [false, true]]);
    const other = await file('two');
    other[other.indexOf('pitm') + 9] = 2;
    const swapped = await pixelsOf(other);
    expect(Buffer.from(swapped.rgb).equals(of[1]!)).toBe(true);
    expect(await normal(other, 1)).toMatchObject({ frames: [{ index: 0 }], total: 2 });
  });

  it('is refused by its header when it has too many pixels, and when it is a sequence', async () => {
    const large = await file('lossless');
    large.writeUInt32BE(20_000, large.indexOf('ispe') + 8);
    large.writeUInt32BE(20_000, large.indexOf('ispe') + 12);
    expect(await refuse(large)).toMatchObject({ code: 'MEDIA_TOO_LARGE' });
    const sequence = await file('lossless');
    sequence.write('hevc', 8, 'latin1');
    expect(await refuse(sequence)).toMatchObject({ code: 'UNSUPPORTED_TYPE' });
  });
});
