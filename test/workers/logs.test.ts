import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { output, typed } from '../cli/terminal.ts';
import { folderWith, printedRun } from '../helpers/cli.ts';
import { expectStatus, fleetWithComments } from '../helpers/fleet.ts';
import { until } from '../helpers/run-directory.ts';

const text = z.string();
const LINE = z.strictObject({
  time: z.iso.datetime({ precision: 3 }),
  level: z.enum(['info', 'warn', 'error']),
  event: text.regex(/^[a-z_]+$/),
  message: text.min(1),
  run: text.optional(),
  guard: text.optional(),
  code: text.optional(),
  shard: z.int().optional(),
});

/** The lines of a log in JSON; throws for anything else in it. */
const linesIn = (log: string) =>
  log
    .trimEnd()
    .split('\n')
    .map((line) => LINE.parse(JSON.parse(line)));

it('the processes of a fleet log JSON lines without content, and text on request', async () => {
  const marker = 'zebra-crossing-4711';
  const env = { GUARDSWEEP_DEBUG: '1' };
  const { fleet, out, path } = await fleetWithComments(1, { guards: ['embedded:'], env });
  const rows = Array.from({ length: 50 }, (_, row) => `${row},${marker} I will kill you`);
  await writeFile(path, `id,text\n${rows.join('\n')}\n`);
  const schedule = 'schedule: { cron: 0 0 29 2 *, timezone: Europe/London }\n';
  const jobs = await folderWith({
    'night.yaml': `sources: [{ path: ${path} }]\nguard: 'embedded:'\noutput: { dir: ${out} }\n${schedule}`,
  });
  const worker = fleet.worker({ args: ['--metrics-port', '0'] });
  const sink = fleet.sink();
  const scheduler = fleet.scheduler(jobs, ['--log-format', 'text']);
  const feeder = await fleet.enqueue(path).finished();
  expectStatus(feeder, 0);
  await until(async () => scheduler.log.includes('scheduler starts'), 'the scheduler');
  const services = [worker, sink, scheduler];
  for (const cli of services) cli.kill('SIGTERM');
  for (const cli of services) expectStatus(await cli.finished(), 0);

  const events = linesIn(worker.log).map(({ event }) => event);
  expect(events).toEqual(expect.arrayContaining(['listening', 'started']));
  const run = basename(printedRun(feeder));
  for (const event of ['run_held', 'run_finished'])
    expect(linesIn(sink.log)).toContainEqual(expect.objectContaining({ level: 'info', event, run }));
  for (const line of scheduler.log.trimEnd().split('\n'))
    expect(line).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (info|warn|error) schedule/);
  for (const { log } of services) expect(log).not.toContain(marker);
  // For people, as before.
  expect(feeder.stderr).toMatch(/^guardsweep: using the worker fleet/m);
});

it.each('worker sink scheduler serve guard'.split(' '))('%s logs why it did not start', async (command) => {
  const stderr = output();
  const { status } = await typed([command, '--bogus'], { context: { stderr } });
  expect(status).toBe(2);
  expect(linesIn(stderr.text())).toMatchObject([{ level: 'error', event: 'failed', code: 'usage' }]);
});

it('docs/operations.md lists every event', async () => {
  const root = resolve(import.meta.dirname, '../..');
  const events = new Set<string>();
  for (const folder of ['src', 'workers']) {
    for (const entry of await readdir(join(root, folder), { recursive: true })) {
      if (!entry.endsWith('.ts')) continue;
      const text = await readFile(join(root, folder, entry), 'utf8');
      if (!/\b(say|LogFields)\b/.test(text)) continue;
      for (const [, event] of text.matchAll(/\bevent(?::| =) '([a-z_]+)'/g)) events.add(event!);
    }
  }
  const docs = await readFile(join(root, 'docs/operations.md'), 'utf8');
  const section = docs.slice(docs.indexOf('## Logs'), docs.indexOf('## Schedules'));
  const listed = section
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .flatMap((line) => [...line.split('|')[2]!.matchAll(/`([a-z_]+)`/g)].map(([, event]) => event));
  expect(listed.sort()).toEqual([...events].sort());
});
