import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shortestFloat } from '../../../src/guard/tensors/shortest-float.ts';

test('a decimal that went through FP32 comes back as written', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999_999 }), fc.integer({ min: 6, max: 12 }), (digits, places) => {
      const written = Number(`${digits}e-${places}`);
      expect(shortestFloat(Math.fround(written))).toBe(written);
    }),
  );
});

test('every FP32 value keeps its identity in at most nine digits', () => {
  fc.assert(
    fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (value) => {
      const shortest = shortestFloat(value);
      // A negative zero comes back as zero.
      expect(Math.fround(shortest)).toBe(value + 0);
      expect(Number(shortest.toPrecision(9))).toBe(shortest);
    }),
    { numRuns: 2000 },
  );
});
