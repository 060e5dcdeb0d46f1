import { appendFile, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { outcomes } from '../helpers/run-directory.ts';
import { guardsweep, temporaryFolder } from '../helpers/cli.ts';

it('gc keeps the verdicts of the runs that are there, and none of damaged records', async () => {
  const cwd = await temporaryFolder();
  const runs = join(cwd, 'runs');
  const judge = async (name: string, text: string): Promise<string> => {
    await writeFile(join(cwd, name), text);
    const { stdout } = await guardsweep(['enqueue', name, '--quiet'], { cwd });
    return stdout.trimEnd().split('\n').at(-1)!;
  };
  const gc = async (): Promise<object> => {
    const { status, stdout, stderr } = await guardsweep(['gc', '--json'], { cwd });
    expect([status, stderr]).toEqual([0, '']);
    return JSON.parse(stdout) as object;
  };
  const first = await judge('a.csv', 'text\none\ntwo\n');
  const second = await judge('b.csv', 'text\nthree\nfour\nfive\n');
  expect(await gc()).toMatchObject({ runs: { finished: 2, others: 0 }, after: { verdicts: 5 } });
  expect(await gc()).toMatchObject({ removed: 0, before: { verdicts: 5 }, after: { verdicts: 5 } });

  await rm(first, { recursive: true });
  expect(await gc()).toMatchObject({ removed: 2, runs: { finished: 1 }, after: { verdicts: 3 } });

  // What the store has is kept; a store that is built again has nothing of this run.
  await appendFile(join(second, 'verdicts.jsonl'), 'x');
  await writeFile(join(second, 'manifest.sha256'), `${'0'.repeat(64)}  manifest.json\n`);
  expect(await gc()).toMatchObject({ removed: 0, runs: { finished: 0, others: 1 }, after: { verdicts: 3 } });
  await rm(join(runs, '.store'), { recursive: true });
  expect(await gc()).toMatchObject({ before: { verdicts: 0 }, after: { verdicts: 0 } });
  expect((await readdir(join(runs, '.store'))).length).toBe(2);
});

it('gc says what it did, and names the flag for a folder that is not there', async () => {
  const cwd = await temporaryFolder();
  const missing = await guardsweep(['gc'], { cwd });
  expect([missing.status, missing.stderr]).toEqual([2, expect.stringContaining('--out')]);
  await writeFile(join(cwd, 'a.txt'), 'hello');
  await guardsweep(['enqueue', 'a.txt', '--quiet'], { cwd });
  const { status, stdout } = await guardsweep(['gc'], { cwd });
  expect([status, stdout]).toEqual([
    0,
    expect.stringMatching(/^Removed 0 verdicts; 1 kept\nSize: .* MiB now\n/),
  ]);
});

it('a damaged store is built again from the runs, which is said once', async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'a.csv'), 'text\none\ntwo\n');
  const judge = () => guardsweep(['enqueue', 'a.csv'], { cwd });
  const first = (await judge()).stdout.trimEnd().split('\n').at(-1)!;
  const store = join(cwd, 'runs', '.store');
  const data = (await readdir(store)).find((name) => name.startsWith('data-'))!;
  await truncate(join(store, data, 'data.mdb'), 5000);
  const { stdout, stderr } = await judge();
  expect(stderr.match(/verdict store/g)).toHaveLength(1);
  expect(stderr).toContain('or was copied or damaged');
  const lines = await outcomes(stdout.trimEnd().split('\n').at(-1)!);
  expect(lines.map(({ reused_from }) => reused_from)).toEqual([basename(first), basename(first)]);
});
