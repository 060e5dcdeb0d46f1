import { execFileSync } from 'node:child_process';
import { cp, link, mkdir, readFile, readdir, rename, symlink, writeFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { setMarker, clearMarker } from '../../src/runs/control/control-files.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { RunWatch } from '../../src/fleet/status/run-status.ts';
import { filesOf } from '../helpers/run-directory.ts';
import { runOver, go, judge, rows, type Run, never } from './small-run.ts';

/** A run that stopped in the middle, under epoch 1; and a file outside that is no business of its. */
async function interrupted() {
  const { run, folder } = await runOver({ 'a.csv': rows('a', 0, 95) });
  await expect(go(run, judge({ answers: 30 }))).rejects.toThrow('the guard went away');
  const victim = join(folder, 'victim');
  await writeFile(victim, 'precious\n');
  return { dir: run.dir, victim, folder, run };
}

describe('a link in a run directory', () => {
  const LOG = ['log/0002-000001.jsonl', 'log/0002-commits.jsonl'];
  it.each(['plan.jsonl', ...LOG, 'control/feed-0002.json'])(
    'named %s is not written through',
    async (name) => {
      const { dir, victim, run } = await interrupted();
      await rename(join(dir, name), join(dir, '..', 'aside')).catch(() => undefined);
      await symlink(victim, join(dir, name));
      await go(run, judge()).catch(() => undefined);
      expect(await readFile(victim, 'utf8')).toBe('precious\n');
    },
  );

  const FINAL = ['verdicts.jsonl', 'errors.jsonl', 'summary.json', 'manifest.json', 'manifest.sha256'];
  it.each(FINAL)('named like the temporary file of %s is replaced', async (name) => {
    const { dir, victim, run } = await interrupted();
    await symlink(victim, join(dir, `.0002-${name}.tmp`));
    if (name !== 'manifest.json') await symlink(victim, join(dir, name));
    expect((await go(run, judge())).summary.status).toBe('finished');
    expect(await readFile(victim, 'utf8')).toBe('precious\n');
    expect(await verifyRun(dir)).toMatchObject({ ok: true });
  });

  it.each(['log', 'control'])('named %s leads nowhere', async (name) => {
    const { dir, folder, run } = await interrupted();
    const elsewhere = join(folder, 'elsewhere');
    await rename(join(dir, name), elsewhere);
    await symlink(elsewhere, join(dir, name));
    const before = await readdir(elsewhere);
    await expect(go(run, judge())).rejects.toThrow('not an ordinary file');
    expect(await readdir(elsewhere)).toEqual(before);
  });

  it('is no marker, and takes none', async () => {
    const { dir, victim, folder } = await interrupted();
    await symlink(victim, join(dir, 'control', 'paused'));
    await expect(setMarker(dir, 'paused')).rejects.toThrow('not an ordinary file');
    await rename(join(dir, 'control'), join(dir, 'aside'));
    await mkdir(join(folder, 'elsewhere'));
    await writeFile(join(folder, 'elsewhere', 'cancelled'), '');
    await symlink(join(folder, 'elsewhere'), join(dir, 'control'));
    await expect(setMarker(dir, 'paused')).rejects.toThrow('not an ordinary file');
    await expect(clearMarker(dir, 'cancelled')).rejects.toThrow('not an ordinary file');
    expect(await readdir(join(folder, 'elsewhere'))).toEqual(['cancelled']);
  });
});

it('a plan with a second name elsewhere is not appended to', async () => {
  const { dir, folder, run } = await interrupted();
  await link(join(dir, 'plan.jsonl'), join(folder, 'other-name'));
  const before = await readFile(join(folder, 'other-name'));
  await expect(go(run, judge())).rejects.toThrow('not an ordinary file');
  expect(await readFile(join(folder, 'other-name'))).toEqual(before);
});

async function finished(): Promise<Run> {
  const { run } = await runOver({ 'a.csv': rows('a', 0, 25) });
  const refuse = () => 'TIMEOUT' as const;
  expect((await go(run, judge({ refuse }))).summary).toMatchObject({ status: 'finished', errors: 25 });
  return run;
}

/** Does everything that reads a run directory, and says how `verify` ended. */
async function readEverything(run: Run, retry: boolean): Promise<string> {
  const ended = (way: Promise<unknown>) => way.then(JSON.stringify, (error: Error) => error.message);
  const verified = await ended(verifyRun(run.dir));
  await ended(RunWatch.open(run.dir, never).then((watch) => watch.look(null, never)));
  await ended(go(run, judge(), { retry }));
  return verified;
}

it.each([
  ['a pipe', true, (path: string) => execFileSync('mkfifo', [path])],
  ['a link to /dev/zero', false, (path: string) => symlink('/dev/zero', path)],
] as const)('%s in the place of any file keeps nobody waiting', async (_, retry, put) => {
  const run = await finished();
  const names = await filesOf(run.dir);
  expect(names).toContain('log/0001-commits.jsonl');
  expect(names).toContain('control/feed-0001.json');
  for (const name of names) {
    const dir = join(run.dir, '..', `without ${name.replace('/', ' ')}`, basename(run.dir));
    await cp(run.dir, dir, { recursive: true });
    await rm(join(dir, name));
    await put(join(dir, name));
    const verified = await readEverything({ ...run, dir }, retry);
    if (!name.startsWith('control/'))
      expect([name, verified]).toEqual([name, expect.stringMatching(/"ok":false|not a run/)]);
  }
});

it.each([
  ...['run.json', 'summary.json', 'manifest.json', 'plan.jsonl', 'sources.jsonl', 'errors.jsonl'],
  ...['log/0001-commits.jsonl', 'log/0001-000001.jsonl'],
])('a %s of one endless line is not read to its end', async (name) => {
  const run = await finished();
  execFileSync('truncate', ['-s', '100G', join(run.dir, name)]);
  const verified = await readEverything(run, true);
  expect(verified).toContain('"ok":false');
});
