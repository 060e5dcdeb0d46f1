import { cp, mkdir, readdir, rename, writeFile, symlink, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommands } from '../../src/cli/run/run-commands.ts';
import { folderWith, writeFiles } from '../helpers/cli.ts';
import { judgedRun } from '../helpers/judged-run.ts';
import { createdRun } from '../runs/small-run.ts';
import { typed } from './terminal.ts';

/** A folder with two finished runs and a damaged one, each with its name. */
async function folderOfRuns(): Promise<Record<'cwd' | 'out' | 'first' | 'second' | 'damaged', string>> {
  const cwd = await folderWith({ 'a.csv': 'id,text\n1,HATE\n2,fine\n' });
  const { out, dir } = await judgedRun(cwd, join(cwd, 'a.csv'), { title: 'nightly' });
  const first = basename(dir);
  const { name: second } = await judgedRun(cwd, join(cwd, 'a.csv'), { title: 'weekly' });
  const damaged = '20250101T000000Z-damaged-ab12';
  await writeFiles(join(out, damaged), { 'run.json': '{' });
  return { cwd, out, first, second, damaged };
}

describe('runs', () => {
  it('are listed and shown with their state; one that is damaged does not hide the others', async () => {
    const { cwd, first, second, damaged } = await folderOfRuns();
    const context = { cwd };
    const { status, stdout } = await typed(['runs', 'list'], { context });
    expect(status).toBe(0);
    expect(stdout).toMatch(/^run +state +started +items +flagged +not judged +size\n/);
    expect(stdout).toMatch(new RegExp(`\n${first} +finished .* 2 +1 +0 +\\S+ MiB\n`));
    expect(stdout).toMatch(new RegExp(`\n${damaged} +unreadable .*\n  its run.json cannot be read\n`));
    const listed = JSON.parse((await typed(['runs', 'list', '--json'], { context })).stdout) as object[];
    expect(listed).toHaveLength(3);
    const finished = { run: second, state: 'finished', items: 2, flagged: 1, held: null, purged: null };
    expect(listed).toContainEqual(expect.objectContaining(finished));
    const shown = await typed(['runs', 'show', first], { context });
    expect(shown.stdout).toMatch(
      new RegExp(`^${first}: finished\n(?:  .*\n)*  items: 2; flagged: 1; not judged: 0\n`),
    );
    expect((await typed(['runs', 'show', damaged], { context })).stdout).toContain('unreadable');
    expect((await typed(['runs', 'list', '--out', 'nowhere'], { context })).stdout).toBe('no runs\n');
  });

  it('are held, released and purged; afterwards every command says so', async () => {
    const { cwd, out, first, second, damaged } = await folderOfRuns();
    const context = { cwd };
    const run = (...args: string[]) => typed(args, { context, runs: runCommands });
    expect(await run('runs', 'hold', first, '--reason', 'case 4711')).toMatchObject({ status: 0 });
    expect((await run('runs', 'show', first)).stdout).toContain(': case 4711\n');
    const whole = await readdir(join(out, second));
    const dry = await run('runs', 'purge', first, second, '--dry-run');
    expect(dry.status).toBe(1);
    expect(dry.stdout).toMatch(/left as it is: held by .* case 4711\n.*would free .*\nWould purge 1 run/);
    expect(await readdir(join(out, second))).toEqual(whole);
    // Neither is a week old, and one cannot be purged.
    const weekly = await run('runs', 'purge', '--older-than', '1w');
    expect([weekly.status, weekly.stdout]).toEqual([1, expect.stringContaining('Purged 0 runs')]);
    expect(weekly.stdout).toContain(`${damaged}: left as it is: it is damaged`);
    expect(await run('runs', 'purge', second)).toMatchObject({ status: 0 });
    expect(await readdir(join(out, second))).not.toContain('verdicts.jsonl');

    const kept = /purged on \d{4}-\d\d-\d\d by \S+; the head and counts are kept/;
    const verified = await run('verify', second);
    expect([verified.status, verified.stdout]).toEqual([6, expect.stringMatching(kept)]);
    expect(verified.stdout).toContain('2 items = 2 verdicts + 0 errors; chain head ');
    await writeFile(join(cwd, 'policy.yaml'), 'thresholds: { default: { block: 0.5 } }\n');
    const analysis = [`export ${second} --clean clean.csv`, `replay ${second} --policy policy.yaml`];
    for (const words of [...analysis, `retry ${second}`, `runs hold ${second}`]) {
      const { status, stderr } = await run(...words.split(' '));
      expect([words, status, stderr]).toEqual([words, 6, expect.stringMatching(kept)]);
    }
    expect((await run('status', second)).stdout).toContain(`${second}: purged\n`);
    expect((await run('runs', 'list')).stdout).toMatch(new RegExp(`${second} +purged .* 2 +1 +0 `));
    expect(await run('runs', 'hold', first, '--release')).toMatchObject({ status: 0 });
    expect(await run('runs', 'purge', first)).toMatchObject({ status: 0 });
  });
});

it('a name is that of a run, the beginning of one, or latest; a path that exists wins', async () => {
  const { cwd, out, first, second } = await folderOfRuns();
  const context = { cwd };
  const shown = async (given: string): Promise<string> =>
    (await typed(['runs', 'show', given, '--out', out], { context })).stdout.split(':')[0]!;
  const newest = [first, second].sort()[1]!;
  expect(await shown('latest')).toBe(newest);
  expect(await shown(newest.slice(0, -1))).toBe(newest);
  await rename(out, join(cwd, 'elsewhere'));
  const clean = ['export', newest, '--clean', 'clean.csv', '--out', 'elsewhere', '--trust-run'];
  const exported = await typed(clean, { context });
  expect([exported.status, exported.stdout]).toEqual([0, expect.stringContaining('clean.csv')]);
  await rename(join(cwd, 'elsewhere'), out);
  await cp(join(out, first), join(out, `${newest}-copy`), { recursive: true });
  const both = await typed(['verify', newest.slice(0, -1)], { context, runs: runCommands });
  expect([both.status, both.stderr]).toEqual([2, expect.stringContaining(`${newest}, ${newest}-copy`)]);
  await mkdir(join(cwd, '2025'));
  expect(await typed(['verify', '2025'], { context, runs: runCommands })).toMatchObject({ status: 2 });
});

/** A folder for runs with directories that a killed process left there, and others. */
async function abandoned(): Promise<{ folder: string; out: string }> {
  const folder = await folderWith({ 'uploads/a.txt': 'hello' });
  const out = join(folder, 'runs');
  const longAgo = new Date(Date.now() - 25 * 3_600_000);
  const age = (path: string): Promise<void> => utimes(path, longAgo, longAgo);
  for (const name of ['.20261121T020000Z-uploads-ab12-0123456', '.stdin-0123456']) {
    // The first is left alone since long ago, into the second something was written just now.
    for (const [last, aged] of Object.entries({ 7: ['log', '.', 'stdin'], f: ['log', '.'] })) {
      const dir = join(out, name + last);
      await mkdir(join(dir, 'log'), { recursive: true });
      await writeFile(join(dir, 'stdin'), 'a row');
      for (const path of aged) await age(join(dir, path));
    }
  }
  for (const name of ['.store', '.schedules', '.stdin-of-mine']) {
    await mkdir(join(out, name));
    await age(join(out, name));
  }
  await mkdir(join(folder, 'elsewhere'));
  await age(join(folder, 'elsewhere'));
  await symlink(join(folder, 'elsewhere'), join(out, '.stdin-89abcdef'));
  return { folder, out };
}

const KEPT = [
  ...['.20261121T020000Z-uploads-ab12-0123456f', '.stdin-0123456f'],
  ...['.schedules', '.stdin-89abcdef', '.stdin-of-mine', '.store'],
];

it.each<readonly [string, (folder: string, out: string) => Promise<unknown>]>([
  ['the next run', (folder) => createdRun(folder)],
  ['gc', (_, out) => typed(['gc', '--out', out])],
  ['a purge', (_, out) => typed(['runs', 'purge', '--older-than', '30d', '--out', out])],
])('%s removes directories that never became runs, unless somebody writes in them', async (_, act) => {
  const { folder, out } = await abandoned();
  await act(folder, out);
  expect((await readdir(out)).filter((name) => name.startsWith('.')).sort()).toEqual([...KEPT].sort());
});
