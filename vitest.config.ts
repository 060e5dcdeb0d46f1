import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { STATE_FOLDER } from './test/helpers/setup/state-folder.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: [
      ...['test/e2e/**', 'test/e2e-fleet/**', 'test/browser/**'],
      ...['test/faults/**', 'test/adversarial/**', 'test/fuzz/**'],
    ],
    globalSetup: [
      'test/helpers/setup/build.ts',
      'test/helpers/redis/install-redis.ts',
      'test/helpers/setup/install-ffmpeg.ts',
      'test/helpers/browser/install-chromium.ts',
    ],
    env: { XDG_STATE_HOME: STATE_FOLDER },
    pool: 'forks',
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 60_000,
    hookTimeout: 30_000,
  },
});
