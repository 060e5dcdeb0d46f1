import sharp from 'sharp';
import { expect, it, onTestFinished } from 'vitest';
import { ImageProbe } from '../../../src/guard-server/lite-image/image-probe.ts';
import { startedProcesses } from '../../helpers/normalizer.ts';
import { drawn } from '../../helpers/pictures.ts';
import { settled } from '../../helpers/settled.ts';

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

/** Ends the decoder that was started as the `turn`th, as soon as it has its image. */
async function end(
  started: ReturnType<typeof startedProcesses>,
  turn: number,
  death: NodeJS.Signals,
): Promise<void> {
  await settled(() => started.all.length === turn);
  const decoder = started.all[turn - 1]!;
  decoder.once('message', () => decoder.kill(death));
}

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
  await end(started, 1, death);
  await end(started, 2, death);
  expect(await outcome).toMatchObject(
    death === 'SIGSEGV' ? { refusal: 'GUARD_REJECTED' } : { name: 'Failure', kind: 'internal' },
  );
  expect(await other.judge(image)).toEqual(expected);
});
