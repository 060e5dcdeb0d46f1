import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { FILTER_SOURCE_SHA256 } from '../../../src/normalize/image/filter-bytes.ts';
import { downscale, targetSize } from '../../../src/normalize/image/resize.ts';

it('runs what was compiled from the source in its present form', () => {
  const source = readFileSync(new URL('../../../src/normalize/image/wasm/filter.ts', import.meta.url));
  expect(hash('sha256', source)).toBe(FILTER_SOURCE_SHA256);
});

/** The same arithmetic along one axis, one number after the other. */
function scaledLine(line: readonly number[], length: number): number[] {
  const scale = line.length / length;
  const kernel = (x: number): number =>
    x < 1 ? (1.5 * x - 2.5) * x * x + 1 : x < 2 ? (((x - 5) * x + 8) * x - 4) * -0.5 : 0;
  return Array.from({ length }, (_, position) => {
    const centre = (position + 0.5) * scale;
    const from = Math.max(0, Math.trunc(centre - 2 * scale + 0.5));
    const taps = line.slice(from, Math.min(line.length, Math.trunc(centre + 2 * scale + 0.5)));
    const exact = taps.map((_value, tap) => kernel(Math.abs((tap + from - centre + 0.5) * (1 / scale))));
    const whole = exact.reduce((sum, weight) => sum + weight, 0);
    const weights = exact.map(
      (weight) => Math.sign(weight) * Math.round((Math.abs(weight) / whole) * 2 ** 22),
    );
    const sum = taps.reduce((total, value, tap) => total + value * weights[tap]!, 2 ** 21);
    return Math.min(255, Math.max(0, Math.floor(sum / 2 ** 22)));
  });
}

it('gives the same bytes as integer arithmetic, however wide the kernel and odd the lengths', () => {
  const lengths = fc.integer({ min: 1, max: 700 });
  const sizes = fc.record({
    width: lengths,
    height: lengths,
    to: fc.tuple(lengths, lengths),
    seed: fc.nat(),
  });
  fc.assert(
    fc.property(sizes, ({ width, height, to, seed }) => {
      const target = { width: Math.min(width, to[0]), height: Math.min(height, to[1]) };
      const isWide = height <= width;
      const across = isWide ? { width, height: 3 } : { width: 3, height };
      let state = seed;
      const rgb = Uint8Array.from({ length: across.width * across.height * 3 }, () => {
        state = (Math.imul(state, 1_103_515_245) + 12_345) | 0;
        // mostly extremes, so that sums leave the range of a byte
        return (state >>> 16) & 1 ? 255 * ((state >>> 17) & 1) : (state >>> 18) & 255;
      });
      const scaled = isWide
        ? downscale({ ...across, rgb }, target.width, 3)
        : downscale({ ...across, rgb }, 3, target.height);
      for (let line = 0; line < 3; line++) {
        for (let channel = 0; channel < 3; channel++) {
          const along = (pixels: Uint8Array, length: number): number[] => {
            const at = (place: number) => (isWide ? line * length + place : place * 3 + line) * 3 + channel;
            return Array.from({ length }, (_, place) => pixels[at(place)]!);
          };
          const source = along(rgb, isWide ? width : height);
          const length = isWide ? target.width : target.height;
          const expected = length === source.length ? source : scaledLine(source, length);
          expect(along(scaled.rgb, length)).toEqual(expected);
        }
      }
    }),
  );
});

it('never makes an edge longer, nor any size longer than 512 (C-802)', () => {
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
