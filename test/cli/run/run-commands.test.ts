import { cp } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { runCommands } from '../../../src/cli/run/run-commands.ts';
import { hasMarker } from '../../../src/runs/control/control-files.ts';
import { folderWith, temporaryFolder, writeFiles } from '../../helpers/cli.ts';
import { output, typed } from '../terminal.ts';
import { newRun } from '../../record/run-fixture.ts';

it('what a job file names is said before anything is read', async () => {
  const job = ['sources: [{ path: a.csv }]', 'guard: "grpc://127.0.0.1:1"', 'output: { dir: out }'];
  const after = ['headFile: heads', 'onFinish: [/bin/echo, "a b"]', 'maxWait: 1s'];
  const cwd = await folderWith({ 'a.csv': 'text\nhello\n', 'job.yaml': [...job, ...after].join('\n') });
  const { stderr } = await typed(['enqueue', 'job.yaml'], { runs: runCommands, context: { cwd } });
  expect(stderr.split('\n')[0]).toBe(
    `guardsweep: job file job.yaml: reads ${cwd}/a.csv; guards: "grpc://127.0.0.1:1"; run directory in ${cwd}/out; notes heads in ${cwd}/heads; then runs /bin/echo "a b"`,
  );
});

it.each([
  ['run.json', '{', /not a run directory/],
  ['plan.jsonl', 'no plan\n{}\n', /plan/],
])('status of many runs shows the others when %s of one is damaged', async (file, text, problem) => {
  const { dir, record } = await newRun();
  const out = dirname(dir);
  const run = '20261121T030000Z-other-cd34';
  const other = join(out, run);
  await cp(dir, other, { recursive: true });
  await writeFiles(other, { 'run.json': JSON.stringify({ ...record, run }), [file]: text });
  const { status, stdout } = await typed(['status', '--out', out]);
  expect(status).toBe(0);
  const [first, second] = stdout.split('\n');
  expect(first).toMatch(/^20261121T030000Z-other-cd34: unreadable; /);
  expect(first).toMatch(problem);
  expect(second).toContain(`${record.run}: stopped`);
  const listed = JSON.parse((await typed(['status', '--out', out, '--json'])).stdout) as unknown[];
  expect(listed).toMatchObject([{ state: 'unreadable', dir: other }, { state: 'stopped' }]);
  expect((await typed(['status', other])).status).not.toBe(0);
});

it('status --watch waits for the first run of a folder', async () => {
  const { dir, record } = await newRun();
  const out = await temporaryFolder();
  expect(await typed(['status', '--out', out])).toMatchObject({ status: 0, stdout: 'no runs\n' });
  const interrupt = new AbortController();
  const interrupts = { drain: interrupt.signal, stop: interrupt.signal };
  const stdout = output();
  const args = ['status', '--watch', '--json', '--out', out];
  const watching = typed(args, { context: { stdout, interrupts } });
  await stdout.begun;
  expect(stdout.text()).toBe('[]\n');
  await cp(dir, join(out, record.run), { recursive: true });
  await expect.poll(() => stdout.text()).toContain(record.run);
  interrupt.abort();
  expect((await watching).status).toBe(0);
});

it('a run may be named by its name alone where the output folder holds it', async () => {
  const { dir, record } = await newRun();
  const name = record.run;
  const cwd = await temporaryFolder();
  const runs = join(cwd, 'runs');
  await cp(dir, join(runs, name), { recursive: true });
  const context = { cwd };
  const given: string[] = [];
  const note = async (runDir: string): Promise<number> => {
    given.push(runDir);
    return 0;
  };
  const noting = { resume: note, retry: note, verify: note };
  for (const command of ['resume', 'retry', 'verify'])
    await typed([command, name], { context, runs: noting });
  expect(given).toEqual([1, 2, 3].map(() => join(runs, name)));
  expect((await typed(['pause', name], { context })).status).toBe(0);
  expect(await hasMarker(join(runs, name), 'paused')).toBe(true);
  expect((await typed(['continue', name], { context })).status).toBe(0);
  expect((await typed(['cancel', name], { context })).status).toBe(0);
  expect((await typed(['status', name], { context })).stdout).toContain(`${name}: cancelled`);
});
