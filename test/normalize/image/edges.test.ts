import { expect, it } from 'vitest';
import { bmpEdges, gifFrames, pngEdges, tiffEdges, tooLarge } from '../../helpers/images/image-bombs.ts';
import { peakMemory } from '../../helpers/images/peak-memory.ts';
import { imageNormalizer, startedProcesses } from '../../helpers/normalizer.ts';

const options = { frames: 8, signal: new AbortController().signal };

/** Memory of a decoder before its first image, with room for the header and the file. */
const MAX_BEFORE_DECODING = 200 * 2 ** 20;

it('a TIFF or PNG with an endless edge is refused before it is decoded', async () => {
  const started = startedProcesses();
  const normalizer = imageNormalizer({ processes: 1 });
  for (const [width, height] of [[30_000_000, 1] as const, [1, 30_000_000] as const]) {
    for (const bytes of [tiffEdges(width, height), pngEdges(width, height)]) {
      expect(bytes.length).toBeLessThan(64 * 1024);
      expect(await normalizer.image(bytes, options)).toMatchObject(tooLarge('edge'));
      expect(peakMemory((await started.first).pid!)).toBeLessThan(MAX_BEFORE_DECODING);
    }
  }
});

it.each([
  ['an endless edge', bmpEdges(60_000_000, 1), 'edge'],
  ['an endless edge', bmpEdges(1, 60_000_000), 'edge'],
  ['too many pixels', bmpEdges(12_000, 12_000), 'pixels'],
  ['pixels that take too much memory', bmpEdges(10_000, 9_000), 'MiB'],
])('a BMP with %s is refused without starting ffmpeg', async (_, bytes, reason) => {
  const started = startedProcesses();
  expect(await imageNormalizer().image(bytes, options)).toMatchObject(tooLarge(reason));
  expect(started.all).toHaveLength(0);
});

it('an image that is only long is judged', async () => {
  const normalizer = imageNormalizer({ processes: 1 });
  const judged = async (bytes: Buffer, size: object): Promise<void> =>
    expect(await normalizer.image(bytes, options)).toMatchObject({ frames: [size] });
  await judged(tiffEdges(131_072, 1), { width: 512, height: 1 });
  await judged(pngEdges(1, 131_072), { width: 1, height: 512 });
  await judged(bmpEdges(131_072, 2), { width: 512, height: 1 });
  await judged(gifFrames(65_535, 3, 1), { width: 512, height: 1 });
});
