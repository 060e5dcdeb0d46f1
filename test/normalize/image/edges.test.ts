import { expect, it } from 'vitest';
import { bmpEdges, gifFrames, pngEdges, tiffEdges, tooLarge } from '../../helpers/images/image-bombs.ts';
import { peakMemory } from '../../helpers/images/peak-memory.ts';
import { imageNormalizer, startedProcesses } from '../../helpers/normalizer.ts';

const options = { frames: 8, signal: new AbortController().signal };

/** Memory of a decoder before its first image, with room for the header and the file. */
const MAX_BEFORE_DECODING = 200 * 2 ** 20;

it.each([
  ['TIFF', tiffEdges(60_000_000, 1)],
  ['TIFF', tiffEdges(1, 60_000_000)],
  ['PNG', pngEdges(60_000_000, 1)],
  ['PNG', pngEdges(1, 60_000_000)],
])('a %s with an endless edge is refused before it is decoded', async (_, bytes) => {
  expect(bytes.length).toBeLessThan(128 * 1024);
  const started = startedProcesses();
  expect(await imageNormalizer({ processes: 1 }).image(bytes, options)).toMatchObject(tooLarge('edge'));
  expect(peakMemory((await started.first).pid!)).toBeLessThan(MAX_BEFORE_DECODING);
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

it.each([
  ['TIFF', tiffEdges(131_072, 1), 512, 1],
  ['PNG', pngEdges(1, 131_072), 1, 512],
  ['BMP', bmpEdges(131_072, 2), 512, 1],
  ['GIF', gifFrames(65_535, 3, 1), 512, 1],
])('a %s that is only long is judged', async (_, bytes, width, height) => {
  const result = await imageNormalizer({ processes: 1 }).image(bytes, options);
  expect(result).toMatchObject({ frames: [{ width, height }] });
});
