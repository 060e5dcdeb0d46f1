import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { guardsweep, temporaryFolder } from '../../helpers/cli.ts';

it('what a job file names is said before anything is read', async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'a.csv'), 'text\nhello\n');
  const job = ['sources: [{ path: a.csv }]', 'guard: "embedded:"', 'output: { dir: out }', 'headFile: heads'];
  await writeFile(join(cwd, 'job.yaml'), [...job, 'onFinish: [/bin/echo, "a b"]'].join('\n'));
  const { status, stderr } = await guardsweep(['enqueue', 'job.yaml'], { cwd });
  expect(status).toBe(0);
  expect(stderr.split('\n')[0]).toBe(
    `guardsweep: job file job.yaml: reads ${cwd}/a.csv; guards: "embedded:"; run directory in ${cwd}/out; notes heads in ${cwd}/heads; then runs /bin/echo "a b"`,
  );
});
