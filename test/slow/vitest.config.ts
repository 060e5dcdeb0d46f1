import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { FFMPEG, ROOT, suite } from '../helpers/setup/suite.ts';

/** Files of `npm test` that try more random inputs here. */
const random = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.test.ts'))
  .filter((name) => readFileSync(join(ROOT, 'test', name), 'utf8').includes(' rounds('))
  .map((name) => `test/${name}`);
if (random.length === 0) throw new Error('no test has `rounds(` any more');

/** What is not part of the program: benches and training. And every round of tests with random inputs. */
export default suite('slow', [FFMPEG], {
  include: ['test/bench/**/*.test.ts', 'test/training/**/*.test.ts', ...random],
  env: { TEST_ROUNDS: '1' },
  maxWorkers: 2,
});
