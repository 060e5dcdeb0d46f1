import { defineConfig } from 'vitest/config';
import { STATE_FOLDER } from '../helpers/setup/state-folder.ts';

/** A fleet under a storm of faults, as many times as FAULTS_SEEDS says. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/faults/**/*.test.ts'],
    globalSetup: ['test/helpers/setup/build.ts', 'test/helpers/redis/install-redis.ts'],
    env: { XDG_STATE_HOME: STATE_FOLDER },
    pool: 'forks',
    maxWorkers: 1,
    testTimeout: 480_000,
    expect: { poll: { timeout: 120_000 } },
    hookTimeout: 120_000,
  },
});
