import { execFileSync } from 'node:child_process';
import { readdir, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { RunWatch } from '../../../src/fleet/status/run-status.ts';
import { runOver, go, judge, never, rows, type Run } from '../small-run.ts';

async function finished(): Promise<Run> {
  const { run } = await runOver({ 'a.csv': rows('a', 0, 25) });
  const refuse = () => 'TIMEOUT' as const;
  expect((await go(run, judge({ refuse }))).summary).toMatchObject({ status: 'finished', errors: 25 });
  return run;
}

/** Does everything that reads a run directory, and says how each of it ended. */
async function readEverything(run: Run): Promise<string[]> {
  const ways: (() => Promise<unknown>)[] = [
    () => verifyRun(run.dir),
    async () => (await RunWatch.open(run.dir, never)).look(null, never),
    () => go(run, judge(), { retry: true }),
    () => go(run, judge()),
  ];
  const ends: string[] = [];
  for (const way of ways) ends.push(await way().then(JSON.stringify, (error: Error) => error.message));
  return ends;
}

/** Every file that a finished run has. */
async function filesOf(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true });
  return entries.filter((e) => e.isFile()).map((e) => join(e.parentPath, e.name).slice(dir.length + 1));
}

it.each([
  ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
  ['a link to /dev/zero', (path: string) => symlink('/dev/zero', path)],
] as const)('%s in the place of any file keeps nobody waiting', async (_, put) => {
  const run = await finished();
  const names = await filesOf(run.dir);
  expect(names).toContain('log/0001-commits.jsonl');
  expect(names).toContain('control/feed-0001.json');
  for (const name of names) {
    const path = join(run.dir, name);
    const aside = join(run.dir, '..', 'aside');
    await rename(path, aside);
    await put(path);
    const [verified] = await readEverything(run);
    if (!name.startsWith('control/'))
      expect([name, verified]).toEqual([name, expect.stringMatching(/"ok":false|not a run/)]);
    await rm(path, { force: true });
    await rename(aside, path);
  }
});

it.each([
  ...['run.json', 'summary.json', 'manifest.json', 'plan.jsonl', 'sources.jsonl', 'errors.jsonl'],
  ...['log/0001-commits.jsonl', 'log/0001-000001.jsonl'],
])('a %s of one endless line is not read to its end', async (name) => {
  const run = await finished();
  execFileSync('truncate', ['-s', '100G', join(run.dir, name)]);
  const [verified] = await readEverything(run);
  expect(verified).toContain('"ok":false');
});
