import { readFile, writeFile } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ItemError } from '../../../src/domain/item-error.ts';
import { Normalizer } from '../../../src/normalize/normalizer.ts';
import { chooseTimes, type SeenVideo } from '../../../src/normalize/video/video-normalizer.ts';
import { openedFile, sharedFolder } from '../../helpers/cli.ts';
import { makeFilm } from './videos.ts';

interface Seen {
  readonly end: SeenVideo | ItemError;
  /** When each frame is shown, and whether it is white. */
  readonly frames: readonly { readonly at: number; readonly white: boolean; readonly size: string }[];
}

const normalizer = Normalizer.open();
afterAll(() => normalizer.close());

async function see(path: string, { interval = 5, frames = 64 } = {}): Promise<Seen> {
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

const folder = sharedFolder();

/** One film in files of several formats: only its last frame, the 61st, is white. */
const CODECS = {
  'film.mp4': 'libx264',
  'film.webm': 'libvpx',
  'film.avi': 'mpeg4',
  'film.wmv': 'wmv2',
};

beforeAll(() => {
  const outputs = Object.entries(CODECS).map(([name, codec]) => ['-c:v', codec, join(folder, name)]);
  const args = outputs.flatMap((output) => [...output, '-pix_fmt', 'yuv420p']);
  makeFilm(folder, 'film.nut', { seconds: 6.1, white: [5.95, 7], args });
});

it.each(Object.keys(CODECS))(
  'sees the first frame of a video, the last, and some between them: %s',
  async (name) => {
    const seen = await see(join(folder, name));
    expect(seen.frames.map(({ white, size }) => `${white} ${size}`)).toEqual([
      'false 64x48',
      'false 64x48',
      'true 64x48',
    ]);
    expect(times(seen)[2]).toBeCloseTo(6, 0);
    if ('code' in seen.end) throw new Error(seen.end.message);
    expect(seen.end.totalSeconds).toBeCloseTo(6.1, 0);
    expect(seen.end.frameSeconds).toBeCloseTo(seen.end.totalSeconds, 3);
  },
);

it('spreads the frames that it may take over the whole length, and says how much they stand for', async () => {
  const args = ['-c:v', 'mpeg4'];
  const path = makeFilm(folder, 'long.mov', { seconds: 16.1, white: [7.95, 8.05], args });
  const seen = await see(path, { interval: 2, frames: 3 });
  expect([times(seen), whites(seen)]).toEqual([[0, 8, 16], [8]]);
  expect(seen.end).toMatchObject({ frameSeconds: 6, totalSeconds: expect.closeTo(16.1, 1) as number });
});

it('chooses times at most an interval apart, unless they are too many', () => {
  expect(chooseTimes({ first: 0, last: 10 }, 5, 64)).toEqual([0, 5, 10]);
  expect(chooseTimes({ first: 1, last: 10 }, 5, 64)).toEqual([1, 5.5, 10]);
  expect(chooseTimes({ first: 0, last: 0 }, 5, 64)).toEqual([0]);
  expect(chooseTimes({ first: 0, last: 10 }, 5, 1)).toEqual([0]);
  const long = chooseTimes({ first: 0, last: 36_000 }, 5, 64);
  expect([long.length, long[0], long.at(-1)]).toEqual([64, 0, 36_000]);
});

it('takes the times of frames from the frames, not from a header that tells another length', async () => {
  const path = makeFilm(folder, 'lie.mkv', { seconds: 6.1, white: [5.95, 7] });
  const bytes = await readFile(path);
  bytes.writeDoubleBE(1000, bytes.indexOf(Buffer.from('448988', 'hex')) + 3);
  await writeFile(path, bytes);
  const seen = await see(path, { frames: 2 });
  expect([times(seen), whites(seen)]).toEqual([[0, 6], [6]]);
});

it('sees a video whose frames come at uneven times, and one that is turned as a player turns it', async () => {
  const args = ['-vf', "setpts='if(lt(N,30),N*0.01,N*0.3)/TB'", '-vsync', 'vfr'];
  const uneven = makeFilm(folder, 'uneven.mkv', { seconds: 6, white: [5.85, 7], args });
  const seen = await see(uneven, { frames: 2 });
  expect(times(seen)[1]).toBeCloseTo(17.6, 0);
  expect(whites(seen)).toEqual([times(seen)[1]]);
  const large = makeFilm(folder, 'large.mp4', { seconds: 0.1, size: '1280x720' });
  const turned = join(folder, 'turned.mp4');
  const turn = ['-v', 'error', '-i', large, '-c', 'copy', '-metadata:s:v', 'rotate=90', turned];
  execFileSync('ffmpeg', turn);
  expect((await see(turned)).frames).toMatchObject([{ size: '288x512' }]);
});

it('refuses what is no video with frames that can be decoded, by a code', async () => {
  const path = join(folder, 'film.mp4');
  const bytes = await readFile(path);
  const codeAt = async (file: string) => ((await see(file, { frames: 1 })).end as ItemError).code;
  const code = async (content: Buffer) => {
    await writeFile(join(folder, 'damaged.mp4'), content);
    return codeAt(join(folder, 'damaged.mp4'));
  };
  expect(await code(bytes.subarray(0, bytes.indexOf('moov')))).toBe('CORRUPT_MEDIA');
  expect(await code(Buffer.alloc(0))).toBe('EMPTY_CONTENT');
  const noise = Buffer.from(bytes).fill(0xa5, bytes.indexOf('mdat') + 4, bytes.indexOf('moov') - 4);
  expect(await code(noise)).toBe('CORRUPT_MEDIA');
  const none = makeFilm(folder, 'none.mp4', { seconds: 0.1, args: ['-frames:v', '0'] });
  expect(['EMPTY_CONTENT', 'CORRUPT_MEDIA', 'UNSUPPORTED_AUDIO_TYPE']).toContain(await codeAt(none));
  const huge = makeFilm(folder, 'huge.mov', { seconds: 0.1, args: ['-s', '7300x5000', '-c:v', 'mjpeg'] });
  expect(await codeAt(huge)).toBe('MEDIA_TOO_LARGE');
  const two = join(folder, 'two.mkv');
  execFileSync('ffmpeg', ['-v', 'error', '-i', path, '-map', '0:v', '-map', '0:v', '-c', 'copy', two]);
  expect(await codeAt(two)).toBe('UNSUPPORTED_TYPE');
});
