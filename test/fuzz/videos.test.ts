import { readFileSync } from 'node:fs';
import { open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pLimit from 'p-limit';
import sharp from 'sharp';
import { expect, it, onTestFinished } from 'vitest';
import { Normalizer } from '../../src/normalize/normalizer.ts';
import { temporaryFolder } from '../helpers/cli.ts';
import { childrenNamed } from '../normalize/audio/processes.ts';
import { makeFilm } from '../normalize/video/videos.ts';
import { FILES, mutatedFile, numbers, SEED } from './mutations.ts';

/** What a damaged file may end as: never as a fault of ours. */
const CODES = [
  'UNSUPPORTED_TYPE',
  'UNSUPPORTED_AUDIO_TYPE',
  'CORRUPT_MEDIA',
  'EMPTY_CONTENT',
  'MEDIA_TOO_LARGE',
];

it(
  `gives ${FILES} damaged videos one outcome each (FUZZ_SEED=${SEED})`,
  async () => {
    const home = await temporaryFolder();
    const films = ['film.mp4', 'film.webm', 'film.avi'].map((name) =>
      readFileSync(makeFilm(home, name, { seconds: 2, white: [0.5, 1], sound: true })),
    );
    const pick = numbers(SEED);
    const normalizer = Normalizer.open();
    onTestFinished(() => normalizer.close());
    const { signal } = new AbortController();
    const tally = new Map<string, number>();
    const see = async (path: string): Promise<string> => {
      const file = await open(path);
      try {
        const tracks = await normalizer.tracks(file, signal);
        if ('code' in tracks) return tracks.code;
        if (tracks.pictures.length === 0) return 'sound only';
        const end = await normalizer.video(file, tracks, {
          interval: 1,
          frames: 3,
          signal,
          each: async ({ atSeconds, image }) => {
            expect(atSeconds).toBeGreaterThanOrEqual(0);
            const { width, height } = await sharp(image).metadata();
            expect(Math.max(width, height)).toBeLessThanOrEqual(512);
          },
        });
        if ('code' in end) return end.code;
        expect(end.frameSeconds).toBeLessThanOrEqual(end.totalSeconds + 1e-6);
        return 'seen';
      } finally {
        await file.close();
      }
    };
    const outcome = async (index: number, video: Buffer): Promise<void> => {
      const path = join(home, String(index));
      await writeFile(path, video);
      const kind = await see(path);
      await rm(path);
      tally.set(kind, (tally.get(kind) ?? 0) + 1);
      expect(['seen', 'sound only', ...CODES], `video ${index} of seed ${SEED}`).toContain(kind);
    };
    const limit = pLimit(4);
    const damaged = Array.from({ length: FILES }, () => mutatedFile(films, pick));
    await Promise.all(damaged.map((video, index) => limit(() => outcome(index, video))));
    expect([...tally.values()].reduce((sum, count) => sum + count)).toBe(FILES);
    expect(childrenNamed('ffmpeg').concat(childrenNamed('ffprobe'))).toEqual([]);
    console.info(`seed ${SEED}:`, Object.fromEntries(tally));
  },
  60_000 + FILES * 4_000,
);
