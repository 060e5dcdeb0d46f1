import { readFileSync } from 'node:fs';
import { type FileHandle, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { expect, it, onTestFinished } from 'vitest';
import { Normalizer } from '../../src/normalize/normalizer.ts';
import { temporaryFolder } from '../helpers/cli.ts';
import { childrenNamed } from '../normalize/audio/processes.ts';
import { makeFilm } from '../normalize/video/videos.ts';
import { damage, FILES, SEED, SOUND_CODES } from './mutations.ts';

it(
  `gives ${FILES} damaged videos one outcome each (FUZZ_SEED=${SEED})`,
  async () => {
    const home = await temporaryFolder();
    const films = ['film.mp4', 'film.webm', 'film.avi'].map((name) =>
      readFileSync(makeFilm(home, name, { seconds: 2, white: [0.5, 1], sound: true })),
    );
    const normalizer = Normalizer.open();
    onTestFinished(() => normalizer.close());
    const { signal } = new AbortController();
    const each = async ({ atSeconds, image }: { atSeconds: number; image: Buffer }): Promise<void> => {
      expect(atSeconds).toBeGreaterThanOrEqual(0);
      const { width, height } = await sharp(image).metadata();
      expect(Math.max(width, height)).toBeLessThanOrEqual(512);
    };
    const see = async (file: FileHandle): Promise<string> => {
      const tracks = await normalizer.tracks(file, signal);
      if ('code' in tracks) return tracks.code;
      if (tracks.pictures.length === 0) return 'sound only';
      const end = await normalizer.video(file, tracks, { interval: 1, frames: 3, signal, each });
      if ('code' in end) return end.code;
      expect(end.frameSeconds).toBeLessThanOrEqual(end.totalSeconds + 1e-6);
      return 'seen';
    };
    await damage(films, { sideBySide: 4 }, async (index, video) => {
      const path = join(home, String(index));
      await writeFile(path, video);
      const file = await open(path);
      const end = await see(file).finally(() => file.close());
      await rm(path);
      expect(['seen', 'sound only', ...SOUND_CODES], `video ${index} of seed ${SEED}`).toContain(end);
      return end;
    });
    expect(childrenNamed('ffmpeg').concat(childrenNamed('ffprobe'))).toEqual([]);
  },
  60_000 + FILES * 4_000,
);
