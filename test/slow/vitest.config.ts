import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { STATE_FOLDER } from '../helpers/setup/state-folder.ts';

const root = new URL('../..', import.meta.url).pathname;

/** Files of `npm test` that try more random inputs here. */
const random = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .filter((name) => readFileSync(join(root, 'test', name), 'utf8').includes('numRuns: rounds('))
  .map((name) => `test/${name}`);
if (random.length === 0) throw new Error('no test has `numRuns: rounds(` any more');

/** What is not part of the program: benches and training. And every round of tests with random inputs. */
export default defineConfig({
  test: {
    root,
    include: ['test/bench/**/*.test.ts', 'test/training/**/*.test.ts', ...random],
    globalSetup: ['test/helpers/setup/build.ts', 'test/helpers/setup/install-ffmpeg.ts'],
    env: { XDG_STATE_HOME: STATE_FOLDER, TEST_ROUNDS: '1' },
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 300_000,
    hookTimeout: 120_000,
  },
});
