import { appendFile, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { runCommands } from '../../src/cli/run/run-commands.ts';
import { typed } from '../cli/terminal.ts';
import { printedRun, temporaryFolder, writeFiles } from '../helpers/cli.ts';
import { outcomes } from '../helpers/run-directory.ts';
import { syntheticGuard } from '../helpers/guards/shared-guard.ts';

/** A folder in which texts are judged, by commands in this process. */
async function judging() {
  const cwd = await temporaryFolder();
  const { address } = await syntheticGuard();
  const judge = async (name: string, text: string) => {
    await writeFiles(cwd, { [name]: text });
    const argv = ['enqueue', name, '--guard', address, '--no-report', '--canaries', 'off'];
    return typed(argv, { runs: runCommands, context: { cwd, env: process.env } });
  };
  return { cwd, judge, store: join(cwd, 'runs', '.store') };
}

it('gc keeps the verdicts of the runs that are there, and none of damaged records', async () => {
  const { cwd, judge, store } = await judging();
  const gc = async (): Promise<object> => {
    const { status, stdout, stderr } = await typed(['gc', '--json'], { context: { cwd, env: process.env } });
    expect([status, stderr]).toEqual([0, '']);
    return JSON.parse(stdout) as object;
  };
  const first = printedRun(await judge('a.csv', 'text\none\ntwo\n'));
  const second = printedRun(await judge('b.csv', 'text\nthree\nfour\nfive\n'));
  expect(await gc()).toMatchObject({ runs: { finished: 2, others: 0 }, after: { verdicts: 5 } });
  expect(await gc()).toMatchObject({ removed: 0, before: { verdicts: 5 }, after: { verdicts: 5 } });

  await rm(first, { recursive: true });
  expect(await gc()).toMatchObject({ removed: 2, runs: { finished: 1 }, after: { verdicts: 3 } });

  // What the store has is kept; a store that is built again has nothing of this run.
  await appendFile(join(second, 'verdicts.jsonl'), 'x');
  await writeFile(join(second, 'manifest.sha256'), `${'0'.repeat(64)}  manifest.json\n`);
  expect(await gc()).toMatchObject({ removed: 0, runs: { finished: 0, others: 1 }, after: { verdicts: 3 } });
  await rm(store, { recursive: true });
  expect(await gc()).toMatchObject({ before: { verdicts: 0 }, after: { verdicts: 0 } });
  expect((await readdir(store)).length).toBe(2);
});

it('a damaged store is built again from the runs, which is said once', async () => {
  const { judge, store } = await judging();
  const first = printedRun(await judge('a.csv', 'text\none\ntwo\n'));
  const data = (await readdir(store)).find((name) => name.startsWith('data-'))!;
  await truncate(join(store, data, 'data.mdb'), 5000);
  const again = await judge('a.csv', 'text\none\ntwo\n');
  expect(again.stderr.match(/verdict store/g)).toHaveLength(1);
  expect(again.stderr).toContain('or was copied or damaged');
  const lines = await outcomes(printedRun(again));
  expect(lines.map(({ reused_from }) => reused_from)).toEqual([basename(first), basename(first)]);
});
