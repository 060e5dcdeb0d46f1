import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { BUILD, FFMPEG, REDIS, STATE_FOLDER } from './test/helpers/setup/suite.ts';

/** These measure the memory of their process, or put other modules in place of ours. */
const ISOLATED = [
  'test/ingest/items/read-source.test.ts',
  'test/record/verify/unreadable.test.ts',
  'test/runs/retention/purge.test.ts',
];
/** Suites of their own: see package.json. */
const SUITES = ['e2e', 'e2e-fleet', 'browser', 'faults', 'adversarial', 'fuzz', 'bench', 'training'].map(
  (suite) => `test/${suite}/**`,
);

export default defineConfig({
  test: {
    globalSetup: [BUILD, REDIS, FFMPEG],
    env: { XDG_STATE_HOME: STATE_FOLDER },
    pool: 'forks',
    // Many files wait more than they compute.
    maxWorkers: Math.max(4, availableParallelism()),
    testTimeout: 900_000,
    expect: { poll: { timeout: 300_000 } },
    hookTimeout: 600_000,
    projects: [
      // Test files share a process, which saves loading the same modules for each.
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [...SUITES, ...ISOLATED],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'isolated', include: ISOLATED } },
    ],
  },
});
