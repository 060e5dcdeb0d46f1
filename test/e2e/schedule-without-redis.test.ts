import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Cron } from 'croner';
import { expect, it } from 'vitest';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { pageText } from '../helpers/documented.ts';
import { expectStatus } from '../helpers/fleet.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const UNITS = join(ROOT, 'docs/operations/systemd');

/** The job files of the repository, with their sample corpora, as they stand. */
async function machine(): Promise<{ readonly etc: string; readonly runs: string }> {
  const etc = await temporaryFolder();
  await cp(join(ROOT, 'jobs'), join(etc, 'jobs'), { recursive: true });
  const runs = join(etc, 'runs');
  await mkdir(runs);
  return { etc, runs };
}

/** Runs a documented command line in folders of the test. */
function run(line: string, { etc, runs }: { readonly etc: string; readonly runs: string }) {
  const here = line
    .replaceAll('/usr/bin/node', process.execPath)
    .replaceAll('/opt/guardsweep', ROOT.replace(/\/$/, ''))
    .replaceAll('/etc/guardsweep', etc)
    .replaceAll('/data/runs', runs);
  const env = { PATH: process.env['PATH'], HOME: etc, XDG_STATE_HOME: join(etc, 'state') };
  return spawnSync('sh', ['-c', here], { encoding: 'utf8', env });
}

async function expectNight(runs: string): Promise<void> {
  const [name, ...more] = (await readdir(runs)).filter((entry) =>
    /^\d{8}T\d{6}Z-nightly-rescan-/.test(entry),
  );
  expect(more).toEqual([]);
  expect(await verifyRun(join(runs, name!), {})).toMatchObject({ ok: true });
}

it('the nightly service of systemd judges the nightly job', async () => {
  const folders = await machine();
  const unit = readFileSync(join(UNITS, 'guardsweep-nightly.service'), 'utf8');
  const done = run(/^ExecStart=(.*)$/m.exec(unit)![1]!, folders);
  expect(done.status, done.stderr).toBe(0);
  await expectNight(folders.runs);
});

it('the line for cron is one, judges the nightly job, and skips a night while it is at work', async () => {
  const folders = await machine();
  const [, line] = /^```crontab\n(.*)\n```$/m.exec(pageText('docs/operations.md'))!;
  const [, cron, command] = /^((?:\S+ ){5})(.*)$/.exec(line!)!;
  expect(() => new Cron(cron!.trim())).not.toThrow();
  // A percent sign ends a command of cron.
  expect(command).not.toContain('%');
  const done = run(command!, folders);
  expect(done.status, done.stderr).toBe(0);
  await expectNight(folders.runs);
  const [, lock] = /flock -n (\S+)/.exec(command!)!;
  const busy = run(`flock ${lock!} sh -c '${command!}'`, folders);
  expect(busy.status).toBe(1);
  await expectNight(folders.runs);
});

it('the data set audit runs as it stands', async () => {
  const { etc, runs } = await machine();
  const done = await guardsweep(['enqueue', 'jobs/dataset-audit.yaml'], { cwd: etc });
  expectStatus(done, 0);
  expect(await readdir(runs)).toContainEqual(expect.stringMatching(/-dataset-audit-/));
});
