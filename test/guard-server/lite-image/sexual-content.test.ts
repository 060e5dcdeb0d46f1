import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sexualContent } from '../../../src/guard-server/lite-image/sexual-content.ts';

it.each([
  //Drawing, Hentai, Neutral, Porn, Sexy
  [[1, 0, 0, 0, 0], 0],
  [[0, 0, 1, 0, 0], 0],
  [[0, 1, 0, 0, 0], 1],
  [[0, 0, 0, 1, 0], 1],
  // What is Sexy with any doubt is not flagged, but adds to what else there is.
  [[0, 0, 0.02, 0, 0.98], 0.49],
  [[0, 0.05, 0, 0.05, 0.9], 0.55],
])('takes %j for %d', (classes, probability) => {
  expect(sexualContent(classes)).toEqual({
    probability: Math.fround(probability),
    flagged: probability >= 0.5,
  });
});

it('gives a single-precision probability for all that the network can answer, also where its sum is rounded', () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 5, maxLength: 5 }),
      (weights) => {
        const sum = weights.reduce((total, weight) => total + weight, 1e-9);
        const { probability } = sexualContent(
          Float32Array.from(weights, (weight) => (weight / sum) * 1.0001),
        );
        expect(probability).toBe(Math.fround(probability));
        expect(probability).toBeGreaterThanOrEqual(0);
        expect(probability).toBeLessThanOrEqual(1);
      },
    ),
  );
});
