import fc from 'fast-check';
import { expect, it } from 'vitest';
import { downscale, targetSize } from '../../../src/normalize/image/resize.ts';

const picture = fc
  .record({ width: fc.integer({ min: 1, max: 40 }), height: fc.integer({ min: 1, max: 40 }) })
  .chain(({ width, height }) =>
    fc.record({
      width: fc.constant(width),
      height: fc.constant(height),
      rgb: fc.uint8Array({ minLength: width * height * 3, maxLength: width * height * 3 }),
      to: fc.record({
        width: fc.integer({ min: 1, max: width }),
        height: fc.integer({ min: 1, max: height }),
      }),
    }),
  );

it('gives as many pixels as were asked for, and one colour stays that colour', () => {
  fc.assert(
    fc.property(picture, fc.integer({ min: 0, max: 255 }), ({ width, height, rgb, to }, level) => {
      const small = downscale({ width, height, rgb }, to.width, to.height);
      expect([small.width, small.height, small.rgb.length]).toEqual([
        to.width,
        to.height,
        to.width * to.height * 3,
      ]);
      const even = downscale({ width, height, rgb: rgb.fill(level) }, to.width, to.height);
      expect(even.rgb.every((value) => value === level)).toBe(true);
    }),
  );
});

it('mirrors with the picture, up to rounding', () => {
  fc.assert(
    fc.property(picture, ({ width, height, rgb, to }) => {
      const mirrored = (pixels: Uint8Array, columns: number): Uint8Array =>
        pixels.map((_, at) => {
          const pixel = Math.floor(at / 3);
          const column = pixel % columns;
          return pixels[(pixel - column + (columns - 1 - column)) * 3 + (at % 3)]!;
        });
      const direct = downscale({ width, height, rgb }, to.width, to.height).rgb;
      const turned = downscale({ width, height, rgb: mirrored(rgb, width) }, to.width, to.height).rgb;
      const differences = mirrored(turned, to.width).map((value, at) => Math.abs(value - direct[at]!));
      expect(Math.max(...differences)).toBeLessThanOrEqual(2);
    }),
  );
});

it.each([
  [512, 512, 512, 512],
  [513, 513, 512, 512],
  [1, 1, 1, 1],
  [100_000, 1, 512, 1],
  [1, 100_000, 1, 512],
  // exact halves go to the even neighbour
  [1024, 5, 512, 2],
  [1024, 7, 512, 4],
  [3, 1024, 2, 512],
  [4000, 3000, 512, 384],
])('scales %i x %i to %i x %i', (width, height, scaledWidth, scaledHeight) => {
  expect(targetSize(width, height)).toEqual({ width: scaledWidth, height: scaledHeight });
});

it('never makes an edge longer, nor any size longer than 512', () => {
  const edge = fc.integer({ min: 1, max: 200_000 });
  fc.assert(
    fc.property(edge, edge, (width, height) => {
      const scaled = targetSize(width, height);
      expect(Math.max(scaled.width, scaled.height)).toBe(Math.min(512, Math.max(width, height)));
      expect(scaled.width).toBeLessThanOrEqual(width);
      expect(scaled.height).toBeLessThanOrEqual(height);
      expect(Math.min(scaled.width, scaled.height)).toBeGreaterThanOrEqual(1);
    }),
  );
});
