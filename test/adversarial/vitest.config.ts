import { defineConfig } from 'vitest/config';

/** Every parser over strings that were made to slow it down. */
export default defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: ['test/adversarial/**/*.test.ts'],
    globalSetup: ['test/adversarial/print-seed.ts', 'test/helpers/setup/build.ts'],
    pool: 'forks',
    // One at a time: what is measured is the time of this process' threads.
    maxWorkers: 1,
    testTimeout: 300_000,
  },
});
