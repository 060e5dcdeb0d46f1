import fc from 'fast-check';
import sharp from 'sharp';
import { expect, it } from 'vitest';
import { photograph } from '../../../bench/corpus/photograph.ts';
import { encodePng } from '../../../src/normalize/image/encode-png.ts';

it('writes PNG files of 8-bit RGB from which every pixel is read as it was', async () => {
  const value = fc.oneof(fc.integer({ min: 0, max: 255 }), fc.constantFrom(0, 1, 127, 128, 254, 255));
  const picture = fc
    .record({ width: fc.integer({ min: 1, max: 40 }), height: fc.integer({ min: 1, max: 12 }) })
    .chain(({ width, height }) => {
      const samples = (count: number) => fc.array(value, { minLength: count, maxLength: count });
      const grey = samples(width * height).map((greys) => greys.flatMap((level) => [level, level, level]));
      return fc.record({
        width: fc.constant(width),
        height: fc.constant(height),
        rgb: fc.oneof(samples(width * height * 3), grey).map((bytes) => Uint8Array.from(bytes)),
      });
    });
  await fc.assert(
    fc.asyncProperty(picture, async ({ width, height, rgb }) => {
      const png = encodePng({ width, height, rgb });
      expect(await sharp(png).metadata()).toMatchObject({ width, height, channels: 3, depth: 'uchar' });
      expect(new Uint8Array(await sharp(png, { failOn: 'warning' }).raw().toBuffer())).toEqual(rgb);
    }),
  );
});

it.each(['colour', 'grey'] as const)('makes files of photographs in %s as small as libpng', async (kind) => {
  const small = sharp(await photograph(1632, 1224, 7)).resize(512);
  const { data, info } = await (kind === 'grey' ? small.greyscale().toColourspace('b-w') : small)
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  const rgb = channels === 3 ? data : Buffer.from([...data].flatMap((level) => [level, level, level]));
  const libpng = await sharp(rgb, { raw: { width, height, channels: 3 } })
    .png({ compressionLevel: 3, adaptiveFiltering: true })
    .toBuffer();
  expect(encodePng({ width, height, rgb }).length).toBeLessThan(1.15 * libpng.length);
});
