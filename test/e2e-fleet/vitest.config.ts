import { defineConfig } from 'vitest/config';
import { STATE_FOLDER } from '../helpers/setup/state-folder.ts';

/** Whole fleets: a real Redis, deaths and outages at real speed. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/e2e-fleet/**/*.test.ts'],
    globalSetup: [
      'test/helpers/setup/build.ts',
      'test/helpers/redis/install-redis.ts',
      'test/helpers/setup/install-ffmpeg.ts',
    ],
    env: { XDG_STATE_HOME: STATE_FOLDER },
    pool: 'forks',
    maxWorkers: 3,
    testTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    hookTimeout: 120_000,
  },
});
