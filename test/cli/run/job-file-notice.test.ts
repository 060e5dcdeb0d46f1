import { expect, it } from 'vitest';
import { runCommands } from '../../../src/cli/run/run-commands.ts';
import { folderWith } from '../../helpers/cli.ts';
import { typed } from '../terminal.ts';

it('what a job file names is said before anything is read', async () => {
  const job = ['sources: [{ path: a.csv }]', 'guard: "grpc://127.0.0.1:1"', 'output: { dir: out }'];
  const after = ['headFile: heads', 'onFinish: [/bin/echo, "a b"]', 'maxWait: 1s'];
  const cwd = await folderWith({ 'a.csv': 'text\nhello\n', 'job.yaml': [...job, ...after].join('\n') });
  const { stderr } = await typed(['enqueue', 'job.yaml'], { runs: runCommands, context: { cwd } });
  expect(stderr.split('\n')[0]).toBe(
    `guardsweep: job file job.yaml: reads ${cwd}/a.csv; guards: "grpc://127.0.0.1:1"; run directory in ${cwd}/out; notes heads in ${cwd}/heads; then runs /bin/echo "a b"`,
  );
});
