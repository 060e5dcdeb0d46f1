import { expect, it } from 'vitest';
import { folderWith, guardsweep, type Finished } from '../helpers/cli.ts';

const NO_REDIS = ['--redis', 'redis://127.0.0.1:1'];
const NO_GUARD = 'grpc://127.0.0.1:1';

/** A folder with a text and a job file that reads it. */
const jobFolder = (maxWait: string, guard = ''): Promise<string> =>
  folderWith({
    'hello.txt': 'hello',
    'job.yaml': `sources:\n  - path: hello.txt\nmaxWait: ${maxWait}\n${guard && `guard: ${guard}\n`}`,
  });

/** Every command, and how long it waits for what: --start-wait before --max-wait or a job file's maxWait. */
const WAITS: readonly (readonly [says: RegExp, run: () => Promise<Finished>])[] = [
  [/1 s/, () => guardsweep(['sink', ...NO_REDIS, '--start-wait', '1s'])],
  [/1 s/, () => guardsweep(['worker', ...NO_REDIS, '--guard', 'embedded:', '--max-wait', '1s'])],
  [
    /no guard became usable within 1 s/,
    async () => guardsweep(['enqueue', 'job.yaml'], { cwd: await jobFolder('1s', NO_GUARD) }),
  ],
  [
    /does not answer within 1 s/,
    async () => guardsweep(['enqueue', 'job.yaml', ...NO_REDIS], { cwd: await jobFolder('1s') }),
  ],
  [
    /no guard became usable within 1 s/,
    async () =>
      guardsweep(['enqueue', 'job.yaml', '--start-wait', '1s'], { cwd: await jobFolder('2h', NO_GUARD) }),
  ],
];

it('a command waits at its start as long as it is told, then ends with status 4', async () => {
  const ended = await Promise.all(WAITS.map(([, run]) => run()));
  for (const [at, { status, stderr }] of ended.entries()) {
    expect([status, stderr]).toEqual([4, expect.stringMatching(WAITS[at]![0])]);
  }
});
