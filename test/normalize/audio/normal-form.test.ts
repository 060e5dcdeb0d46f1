import { copyFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it } from 'vitest';
import type { AudioWindow } from '../../../src/normalize/audio/window-cutter.ts';
import { settled } from '../../helpers/settled.ts';
import { childrenNamed, writtenBytes } from './processes.ts';
import { pcmFile, WAV_HEADER_BYTES } from '../../helpers/wav.ts';
import { decodedByFfmpeg, hear, normalizer, samples } from './clips.ts';
import { openedFile, sharedFolder, temporaryFolder } from '../../helpers/cli.ts';

const FIXTURES = fileURLToPath(new URL('../../fixtures/audio/', import.meta.url));

/** A linear congruential generator: the same noise everywhere. */
function noise(length: number) {
  let state = 20_261_121;
  return Int16Array.from({ length }, () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return state >> 16;
  });
}

const long = join(sharedFolder(), 'long.wav');
const longPcm = Buffer.from(noise(700 * 16_000).buffer);
beforeAll(() => writeFile(long, pcmFile(longPcm)));

it('leaves a clip that is in normal form as it is, in a file that any player opens (C-810)', async () => {
  const { windows } = await hear(normalizer(), `${FIXTURES}plain.wav`);
  const path = join(await temporaryFolder(), 'plain.wav');
  await writeFile(path, windows[0]!.wav);
  expect(samples(windows).equals(decodedByFfmpeg(`${FIXTURES}plain.wav`))).toBe(true);
  const again = await hear(normalizer(), path);
  expect(again.windows[0]!.wav.equals(windows[0]!.wav)).toBe(true);
  const header = windows[0]!.wav.subarray(0, WAV_HEADER_BYTES);
  expect(header.toString('hex')).toBe(
    '52494646a43e000057415645666d74201000000001000100803e0000007d00000200100064617461803e0000',
  );
});

it('mixes stereo to half the sum of both sides (C-805)', async () => {
  const path = join(await temporaryFolder(), 'stereo.wav');
  const sides = noise(2 * 16_000);
  await writeFile(path, pcmFile(Buffer.from(sides.buffer), { channels: 2 }));
  const { windows } = await hear(normalizer(), path);
  const mono = samples(windows);
  expect(mono.length).toBe(sides.length);
  const farthest = Array.from({ length: 16_000 }, (_, index) =>
    Math.abs(mono.readInt16LE(2 * index) - (sides[2 * index]! + sides[2 * index + 1]!) / 2),
  ).reduce((most, difference) => Math.max(most, difference));
  expect(farthest).toBeLessThanOrEqual(0.5);
});

it('says the same of the same clip each time, also side by side (C-808)', async () => {
  const by = normalizer({ decoders: 2 });
  const heard = await Promise.all(Array.from({ length: 3 }, () => hear(by, `${FIXTURES}layer-three.mp3`)));
  const first = heard[0]!.windows[0]!.wav;
  expect(heard.every(({ windows }) => windows[0]!.wav.equals(first))).toBe(true);
});

it('cuts a long clip into windows that together are the whole, and takes in no more of it than is asked for', async () => {
  const { end, windows } = await hear(normalizer(), long);
  expect(end).toEqual({ windowSeconds: 700, totalSeconds: 700 });
  expect(windows.map(({ startSeconds, seconds }) => `${startSeconds} + ${seconds}`)).toEqual([
    '0 + 300',
    '300 + 300',
    '600 + 100',
  ]);
  expect(samples(windows).equals(longPcm)).toBe(true);
  const first = await hear(normalizer(), long, { long: 'truncate' });
  expect(first.end).toEqual({ windowSeconds: 300, totalSeconds: 700 });
  expect(first.windows.map(({ wav }) => wav.equals(windows[0]!.wav))).toEqual([true]);
});

it('hears the file that was opened, whatever has its name by then', async () => {
  const path = join(await temporaryFolder(), 'clip.m4a');
  await copyFile(`${FIXTURES}index-at-end.m4a`, path);
  const file = await openedFile(path);
  await file.read(Buffer.alloc(1000), 0, 1000, 0); // as hashing does
  await rm(path);
  await copyFile(`${FIXTURES}text.mp3`, path);
  let bytes = 0;
  const each = async ({ wav }: AudioWindow): Promise<void> => void (bytes += wav.length);
  const { signal } = new AbortController();
  const end = await normalizer().audio(file, { long: 'windows', signal, each });
  expect(end).toHaveProperty('totalSeconds', (bytes - WAV_HEADER_BYTES) / 32_000);
});

it('lets ffmpeg wait while a window is being taken', async () => {
  const written: number[] = [];
  const take = async (): Promise<void> => {
    const [ffmpeg] = childrenNamed('ffmpeg');
    if (ffmpeg === undefined) return; // the last window
    let [before, now] = [-1, writtenBytes(ffmpeg)];
    await settled(() => {
      [before, now] = [now, writtenBytes(ffmpeg)];
      return now === before;
    });
    written.push(now);
  };
  await hear(normalizer({ decoders: 1 }), long, { take });
  const windowBytes = 300 * 32_000;
  // besides what was taken: a pipe and a stream's buffer, of 64 KiB each, and what is just being handed on
  const isLittle = written.map((bytes, index) => bytes - (index + 1) * windowBytes < 512 * 1024);
  expect(isLittle).toEqual([true, true]);
});
