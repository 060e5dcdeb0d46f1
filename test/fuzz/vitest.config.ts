import { defineConfig } from 'vitest/config';

/** Damaged images, clips, videos, tables, archives, documents and mail. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/fuzz/**/*.test.ts'],
    globalSetup: ['test/helpers/setup/build.ts', 'test/helpers/setup/install-ffmpeg.ts'],
    pool: 'forks',
    maxWorkers: 1,
  },
});
