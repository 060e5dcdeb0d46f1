import fc from 'fast-check';
import sharp from 'sharp';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { ImageProbe } from '../../../src/guard-server/lite-image/image-probe.ts';
import { sexualContent } from '../../../src/guard-server/lite-image/sexual-content.ts';
import { endDecoder, startedProcesses } from '../../helpers/normalizer.ts';

const navy = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: 'navy' } });
const image = await navy(8, 8).png().toBuffer();

const probe = await ImageProbe.open();
afterAll(() => probe.close());

it('has images decoded in another process, one for all of them', async () => {
  const started = startedProcesses();
  const first = await probe.judge(image);
  expect(await probe.judge(image)).toEqual(first);
  expect(await probe.judge(image.subarray(0, 40))).toMatchObject({ refusal: 'GUARD_REJECTED' });
  expect(started.all).toHaveLength(1);
});

it('refuses an image that crashes its decoder, fails over one whose decoder is killed', async () => {
  const large = await navy(2000, 1500).jpeg().toBuffer();
  const expected = await probe.judge(image);
  const other = await ImageProbe.open();
  onTestFinished(() => other.close());
  const started = startedProcesses();
  const outcomes = Promise.allSettled([large, large, image].map((bytes) => other.judge(bytes)));
  const deaths = ['SIGSEGV', 'SIGSEGV', 'SIGKILL', 'SIGKILL'] as const;
  for (const [index, death] of deaths.entries()) await endDecoder(started, index + 1, death);
  expect(await outcomes).toMatchObject([
    { value: { refusal: 'GUARD_REJECTED' } },
    { reason: { name: 'Failure', kind: 'internal' } },
    { value: expected },
  ]);
});

it.each([
  // Drawing, Hentai, Neutral, Porn, Sexy
  [[1, 0, 0, 0, 0], 0],
  [[0, 0, 1, 0, 0], 0],
  [[0, 1, 0, 0, 0], 1],
  [[0, 0, 0, 1, 0], 1],
  // What is Sexy with any doubt is not flagged, but adds to what else there is.
  [[0, 0, 0.02, 0, 0.98], 0.49],
  [[0, 0.05, 0, 0.05, 0.9], 0.55],
])('takes the classes %j for sexual content of %d', (classes, probability) => {
  const flagged = probability >= 0.5;
  expect(sexualContent(classes)).toEqual({ probability: Math.fround(probability), flagged });
});

it('gives a single-precision probability for all that the network can answer, also where its sum is rounded', () => {
  const weights = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 5, maxLength: 5 });
  fc.assert(
    fc.property(weights, (given) => {
      const sum = given.reduce((total, weight) => total + weight, 1e-9);
      const classes = Float32Array.from(given, (weight) => (weight / sum) * 1.0001);
      const { probability } = sexualContent(classes);
      expect(probability).toBe(Math.fround(probability));
      expect(probability).toBeGreaterThanOrEqual(0);
      expect(probability).toBeLessThanOrEqual(1);
    }),
  );
});
