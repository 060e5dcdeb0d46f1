import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/fleet/**', 'test/faults/**'],
    globalSetup: ['test/helpers/build.ts', 'test/helpers/install-redis.ts', 'test/helpers/install-ffmpeg.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 30_000,
  },
});
