import { defineConfig } from 'vitest/config';
import { STATE_FOLDER } from '../helpers/setup/state-folder.ts';

/** The dashboard's pages in Chromium, on the real server with real runs. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/browser/**/*.test.ts'],
    globalSetup: [
      'test/helpers/setup/build.ts',
      'test/helpers/redis/install-redis.ts',
      'test/helpers/browser/install-chromium.ts',
    ],
    env: { XDG_STATE_HOME: STATE_FOLDER },
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 300_000,
    expect: { poll: { timeout: 120_000 } },
    hookTimeout: 120_000,
  },
});
