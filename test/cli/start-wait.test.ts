import { expect, it } from 'vitest';
import { guardsweep } from '../helpers/cli.ts';

const NO_REDIS = ['--redis', 'redis://127.0.0.1:1'];

it.each([
  ['sink', ['--start-wait', '1s']],
  ['worker', ['--guard', 'embedded:', '--start-wait', '1s', '--max-wait', '2h']],
  ['worker', ['--guard', 'embedded:', '--max-wait', '1s']],
])('%s %j waits so long for Redis at its start, then ends with status 4', async (command, flags) => {
  const { status, stderr } = await guardsweep([command, ...NO_REDIS, ...flags]);
  expect(stderr).toContain('1 s');
  expect(status).toBe(4);
});
