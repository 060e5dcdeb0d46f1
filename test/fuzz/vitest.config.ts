import { defineConfig } from 'vitest/config';

/** The damaged files of the ordinary suite, many times as many. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/fuzz/**/*.test.ts'],
    globalSetup: ['test/helpers/setup/build.ts', 'test/helpers/setup/install-ffmpeg.ts'],
    env: {
      FUZZ_IMAGES: process.env['FUZZ_IMAGES'] ?? '2000',
      FUZZ_CLIPS: process.env['FUZZ_CLIPS'] ?? '1000',
      FUZZ_VIDEOS: process.env['FUZZ_VIDEOS'] ?? '300',
      FUZZ_PARQUET: process.env['FUZZ_PARQUET'] ?? '300',
      FUZZ_UNPACK: process.env['FUZZ_UNPACK'] ?? '2000',
    },
    pool: 'forks',
    maxWorkers: 1,
  },
});
