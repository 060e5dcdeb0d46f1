import fc from 'fast-check';
import sharp from 'sharp';
import { expect, it, onTestFinished } from 'vitest';
import { ImageProbe } from '../../../src/guard-server/lite-image/image-probe.ts';
import { sexualContent } from '../../../src/guard-server/lite-image/sexual-content.ts';
import { endDecoder, startedProcesses } from '../../helpers/normalizer.ts';
import { drawn } from '../../helpers/pictures.ts';

const image = await sharp({ create: { width: 8, height: 8, channels: 3, background: 'navy' } })
  .png()
  .toBuffer();

async function openProbe(): Promise<ImageProbe> {
  const probe = await ImageProbe.open();
  onTestFinished(() => probe.close());
  return probe;
}

it('has images decoded in another process, one for all of them', async () => {
  const started = startedProcesses();
  const probe = await openProbe();
  expect(started.all).toHaveLength(0);
  const first = await probe.judge(image);
  expect(await probe.judge(image)).toEqual(first);
  expect(await probe.judge(image.subarray(0, 40))).toMatchObject({ refusal: 'GUARD_REJECTED' });
  expect(started.all).toHaveLength(1);
});

it.each([
  ['refuses an image that crashes its decoder', 'SIGSEGV'],
  ['fails over an image whose decoder is ended by something outside', 'SIGKILL'],
] as const)('%s, and judges the next', async (_, death) => {
  const large = await drawn(4000, 3000).jpeg({ quality: 60 }).toBuffer();
  const probe = await openProbe();
  const expected = await probe.judge(image);
  const other = await openProbe();
  const started = startedProcesses();
  const outcome = other.judge(large).catch((error: unknown) => error);
  for (const turn of [1, 2]) await endDecoder(started, turn, death);
  expect(await outcome).toMatchObject(
    death === 'SIGSEGV' ? { refusal: 'GUARD_REJECTED' } : { name: 'Failure', kind: 'internal' },
  );
  expect(await other.judge(image)).toEqual(expected);
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
