import { readFile, writeFile } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import sharp from 'sharp';
import { expect, it, onTestFinished } from 'vitest';
import type { ItemError } from '../../../src/domain/item-error.ts';
import { Normalizer } from '../../../src/normalize/normalizer.ts';
import { chooseTimes, type SeenVideo } from '../../../src/normalize/video/video-normalizer.ts';
import { openedFile, temporaryFolder } from '../../helpers/cli.ts';
import { makeFilm } from './videos.ts';

interface Seen {
  readonly end: SeenVideo | ItemError;
  /** When each frame is shown, and whether it is white. */
  readonly frames: readonly { readonly at: number; readonly white: boolean; readonly size: string }[];
}

async function see(path: string, { interval = 5, frames = 64 } = {}): Promise<Seen> {
  const normalizer = Normalizer.open();
  onTestFinished(() => normalizer.close());
  const { signal } = new AbortController();
  const file = await openedFile(path);
  const seen: Seen['frames'][number][] = [];
  const tracks = await normalizer.tracks(file, signal);
  if ('code' in tracks) return { end: tracks, frames: [] };
  const each = async ({ atSeconds, image }: { atSeconds: number; image: Buffer }): Promise<void> => {
    const { channels } = await sharp(image).stats();
    const { width, height } = await sharp(image).metadata();
    const at = Math.round(atSeconds * 10) / 10;
    seen.push({ at, white: channels[0]!.mean > 128, size: `${width}x${height}` });
  };
  return { end: await normalizer.video(file, tracks, { interval, frames, signal, each }), frames: seen };
}

const times = ({ frames }: Seen): number[] => frames.map(({ at }) => at);
const whites = ({ frames }: Seen): number[] => frames.filter(({ white }) => white).map(({ at }) => at);

it.each([
  ['film.mp4', ['-c:v', 'libx264']],
  ['film.mov', ['-c:v', 'mpeg4']],
  ['film.webm', ['-c:v', 'libvpx']],
  ['film.mkv', ['-c:v', 'libx264']],
  ['film.avi', ['-c:v', 'mpeg4']],
  ['film.wmv', ['-c:v', 'wmv2']],
])('sees the first frame of a video, the last, and some between them: %s', async (name, args) => {
  const path = makeFilm(await temporaryFolder(), name, { seconds: 12, white: [11.85, 13], args });
  const seen = await see(path);
  expect(seen.frames).toHaveLength(4);
  expect(seen.frames.map(({ white }) => white)).toEqual([false, false, false, true]);
  expect(times(seen)[3]).toBeCloseTo(11.9, 0);
  if ('code' in seen.end) throw new Error(seen.end.message);
  expect(seen.end.totalSeconds).toBeCloseTo(12, 0);
  expect(seen.end.frameSeconds).toBeCloseTo(seen.end.totalSeconds, 3);
});

it('spreads the frames that it may take over the whole length, and says how much they stand for', async () => {
  const path = makeFilm(await temporaryFolder(), 'long.mp4', { seconds: 60, white: [29, 31] });
  const seen = await see(path, { frames: 3 });
  expect([times(seen), whites(seen)]).toEqual([[0, 30, 59.9], [30]]);
  expect(seen.end).toMatchObject({ frameSeconds: 15, totalSeconds: expect.closeTo(60, 1) as number });
  expect(times(await see(path, { frames: 1 }))).toEqual([0]);
});

it('chooses times at most an interval apart, unless they are too many', () => {
  expect(chooseTimes({ first: 0, last: 10 }, 5, 64)).toEqual([0, 5, 10]);
  expect(chooseTimes({ first: 1, last: 10 }, 5, 64)).toEqual([1, 5.5, 10]);
  expect(chooseTimes({ first: 0, last: 0 }, 5, 64)).toEqual([0]);
  const long = chooseTimes({ first: 0, last: 36_000 }, 5, 64);
  expect([long.length, long[0], long.at(-1)]).toEqual([64, 0, 36_000]);
});

it('takes the times of frames from the frames, not from a header that tells another length', async () => {
  const path = makeFilm(await temporaryFolder(), 'lie.mkv', { seconds: 12, white: [11.85, 13] });
  const bytes = await readFile(path);
  bytes.writeDoubleBE(1000, bytes.indexOf(Buffer.from('448988', 'hex')) + 3);
  await writeFile(path, bytes);
  expect(whites(await see(path))).toEqual([11.9]);
});

it('sees a video whose frames come at uneven times, and one that is turned as a player turns it', async () => {
  const folder = await temporaryFolder();
  const args = ['-vf', "setpts='if(lt(N,30),N*0.01,N*0.3)/TB'", '-vsync', 'vfr'];
  const uneven = makeFilm(folder, 'uneven.mkv', { seconds: 6, white: [5.85, 7], args });
  const seen = await see(uneven);
  expect(times(seen).at(-1)).toBeCloseTo(17.6, 0);
  expect(whites(seen).at(-1)).toBe(times(seen).at(-1));
  const upright = makeFilm(folder, 'upright.mp4', { seconds: 1 });
  const turned = join(folder, 'turned.mp4');
  const turn = ['-v', 'error', '-i', upright, '-c', 'copy', '-metadata:s:v', 'rotate=90', turned];
  execFileSync('ffmpeg', turn);
  const large = makeFilm(folder, 'large.mp4', { seconds: 1, size: '1280x720' });
  const sizes = [upright, turned, large].map(async (path) => (await see(path)).frames[0]!.size);
  expect(await Promise.all(sizes)).toEqual(['64x48', '48x64', '512x288']);
});

it('refuses what is no video with frames that can be decoded, by a code', async () => {
  const folder = await temporaryFolder();
  const path = makeFilm(folder, 'film.mp4', { seconds: 2 });
  const bytes = await readFile(path);
  const codeAt = async (file: string) => ((await see(file)).end as ItemError).code;
  const code = async (content: Buffer) => {
    await writeFile(join(folder, 'damaged.mp4'), content);
    return codeAt(join(folder, 'damaged.mp4'));
  };
  expect(await code(bytes.subarray(0, 2000))).toBe('CORRUPT_MEDIA');
  expect(await code(Buffer.alloc(0))).toBe('EMPTY_CONTENT');
  const noise = Buffer.from(bytes).fill(0xa5, bytes.indexOf('mdat') + 4, bytes.indexOf('moov') - 4);
  expect(await code(noise)).toBe('CORRUPT_MEDIA');
  const none = makeFilm(folder, 'none.mp4', { seconds: 1, args: ['-frames:v', '0'] });
  expect(['EMPTY_CONTENT', 'CORRUPT_MEDIA', 'UNSUPPORTED_AUDIO_TYPE']).toContain(await codeAt(none));
  const huge = makeFilm(folder, 'huge.mov', { seconds: 0.1, size: '8000x5000', args: ['-c:v', 'mjpeg'] });
  expect(await codeAt(huge)).toBe('MEDIA_TOO_LARGE');
  const two = join(folder, 'two.mkv');
  execFileSync('ffmpeg', ['-v', 'error', '-i', path, '-map', '0:v', '-map', '0:v', '-c', 'copy', two]);
  expect(await codeAt(two)).toBe('UNSUPPORTED_TYPE');
});
