import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  IMAGE_CLASSES,
  sexualContent,
  type ImageClass,
} from '../../../src/guard-server/lite-image/sexual-content.ts';

const certainly = (name: ImageClass) => sexualContent(IMAGE_CLASSES.map((it) => (it === name ? 1 : 0)));

it.each([
  ['Drawing', 0],
  ['Neutral', 0],
  ['Hentai', 1],
  ['Porn', 1],
] as const)('takes a picture that is certainly %s for %i', (name, probability) => {
  expect(certainly(name)).toEqual({ probability, flagged: probability === 1 });
});

it('does not flag what is Sexy with any doubt, but adds it to what else there is', () => {
  //                    Drawing, Hentai, Neutral, Porn, Sexy
  expect(sexualContent([0, 0, 0.02, 0, 0.98])).toEqual({ probability: Math.fround(0.49), flagged: false });
  expect(sexualContent([0, 0.05, 0, 0.05, 0.9])).toEqual({ probability: Math.fround(0.55), flagged: true });
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
