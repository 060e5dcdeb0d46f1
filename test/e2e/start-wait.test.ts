import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { redisForTest } from '../helpers/redis/redis.ts';
import { newRun } from '../record/run-fixture.ts';

const NO_REDIS = ['--redis', 'redis://127.0.0.1:1'];
const NO_GUARD = 'grpc://127.0.0.1:1';

it.each([
  ['sink', ['--start-wait', '1s']],
  ['worker', ['--guard', 'embedded:', '--start-wait', '1s', '--max-wait', '2h']],
  ['worker', ['--guard', 'embedded:', '--max-wait', '1s']],
])('%s %j waits so long for Redis at its start, then ends with status 4', async (command, flags) => {
  const { status, stderr } = await guardsweep([command, ...NO_REDIS, ...flags]);
  expect(stderr).toContain('1 s');
  expect(status).toBe(4);
});

/** A folder with a text and a job file that reads it. */
async function jobFolder(maxWait: string, guard?: string): Promise<string> {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'hello.txt'), 'hello');
  const lines = ['sources:', '  - path: hello.txt', `maxWait: ${maxWait}`];
  if (guard !== undefined) lines.push(`guard: ${guard}`);
  await writeFile(join(cwd, 'job.yaml'), `${lines.join('\n')}\n`);
  return cwd;
}

it("a job file's maxWait is how long the start waits, unless --start-wait says otherwise", async () => {
  const [ofGuard, ofRedis, flagged] = await Promise.all([
    guardsweep(['enqueue', 'job.yaml'], { cwd: await jobFolder('1s', NO_GUARD) }),
    guardsweep(['enqueue', 'job.yaml', ...NO_REDIS], { cwd: await jobFolder('1s') }),
    guardsweep(['enqueue', 'job.yaml', '--start-wait', '1s'], { cwd: await jobFolder('2h', NO_GUARD) }),
  ]);
  expect(ofGuard.stderr).toContain('no guard became usable within 1 s');
  expect(ofRedis.stderr).toContain('does not answer within 1 s');
  expect(flagged.stderr).toContain('no guard became usable within 1 s');
  for (const { status } of [ofGuard, ofRedis, flagged]) expect(status).toBe(4);
});

it('a start that takes long says what it waits for, and how long at most', async () => {
  const cwd = await jobFolder('1h');
  const wait = ['--start-wait', '5s'];
  const redis = await redisForTest();
  const { dir } = await newRun();
  const forRedis =
    'guardsweep: waiting for Redis at redis://127.0.0.1:1 (--redis), up to 5 s: it does not answer\n';
  const forGuard = `guardsweep: waiting for a guard, up to 5 s: ${NO_GUARD}: no connection\n`;
  const cases: [args: string[], notice: string | null][] = [
    [['enqueue', 'hello.txt', '--guard', NO_GUARD], forGuard],
    [['enqueue', 'hello.txt', '--guard', NO_GUARD, '--quiet'], null],
    [['worker', '--redis', redis.url, '--guard', NO_GUARD], forGuard],
    [['worker', ...NO_REDIS, '--guard', NO_GUARD], forRedis],
    [['enqueue', 'hello.txt', ...NO_REDIS], forRedis],
    [['enqueue', 'hello.txt', ...NO_REDIS, '--quiet'], null],
    [['resume', dir, '--trust-run', ...NO_REDIS], forRedis],
    [['retry', dir, '--trust-run', ...NO_REDIS], forRedis],
    [['sink', ...NO_REDIS], forRedis],
  ];
  await Promise.all(
    cases.map(async ([args, notice]) => {
      const { status, stderr } = await guardsweep([...args, ...wait], { cwd });
      expect(status, stderr).toBe(4);
      if (notice === null) expect(stderr).not.toContain('waiting for');
      else expect(stderr.split(notice), stderr).toHaveLength(2);
    }),
  );
});
