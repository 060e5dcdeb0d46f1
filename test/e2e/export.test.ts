import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Reviews } from '../../src/dashboard/reviews/reviews.ts';
import { typed } from '../cli/terminal.ts';
import { folderWith, guardsweep, printedRun } from '../helpers/cli.ts';
import { onlyRun, outcomes } from '../helpers/run-directory.ts';

/** The embedded guard allows the first row and flags the second. */
const ALLOWED = '"Thank you for the quick reply, the parcel arrived this morning."';
const TABLE = `text\n${ALLOWED}\nI will find you and kill you tonight.\n"unclosed, row\n`;

const JOB = `
sources: [{ path: a.csv }]
guard: 'embedded:'
failIf: { flaggedRate: 0 }
export: { clean: clean.csv, keep: review }
`;

it('a run whose gate trips leaves its clean rows, which a later export finds again', async () => {
  const cwd = await folderWith({ 'a.csv': TABLE, 'job.yaml': JOB });
  const { status, stdout, stderr } = await guardsweep(['enqueue', 'job.yaml'], { cwd });
  expect([status, stderr]).toEqual([3, expect.stringContaining('clean: 1 of 3 rows in ')]);
  const dir = await onlyRun(join(cwd, 'runs'));
  expect(stdout.trimEnd().split('\n').at(-1)).toBe(dir);
  expect(await readFile(join(cwd, 'clean.csv'), 'utf8')).toBe(`text\n${ALLOWED}\n`);
  const again = await guardsweep(['export', dir, '--clean', 'again.csv', '--json'], { cwd });
  expect([again.status, JSON.parse(again.stdout)]).toMatchObject([5, [{ rows: { kept: 1, rejected: 2 } }]]);
  expect(await readFile(join(cwd, 'again.csv'), 'utf8')).toBe(`text\n${ALLOWED}\n`);

  const taken = await guardsweep(['enqueue', 'job.yaml'], { cwd });
  expect([taken.status, taken.stderr]).toEqual([2, expect.stringContaining('clean.csv exists')]);
  expect(await onlyRun(join(cwd, 'runs'))).toBe(dir);
});

it('what people decided is written as labels that replay reads, and for Label Studio', async () => {
  const cwd = await folderWith({ 'a.csv': TABLE });
  const dir = printedRun(await guardsweep(['enqueue', 'a.csv', '--allow-errors', '--no-report'], { cwd }));
  const [allowed, flagged] = await outcomes(dir);
  const command = (args: string[]) => typed(args, { context: { cwd, env: process.env } });
  const reviews = Reviews.beside(dir);
  await reviews.add(dir, allowed!, { decision: 'allow', categories: null, note: 'harmless' });
  await reviews.add(dir, flagged!, { decision: 'block', categories: ['violent_crimes'], note: '' });

  const stdout = `Labels of 2 reviewed items\n${join(cwd, 'labels.jsonl')}\n`;
  const said = await command(['export', dir, '--labels', 'labels.jsonl']);
  expect(said).toMatchObject({ status: 0, stdout });
  const replayed = await command(['replay', dir, '--labels', 'labels.jsonl', '--json']);
  expect(JSON.parse(replayed.stdout)).toMatchObject({ labels: { labels: 15, unmatched: 0 } });
  const written = await command(['export', dir, '--labels', 'tasks.json', '--json']);
  expect(JSON.parse(written.stdout)).toMatchObject([{ kind: 'labels', reviewed: 2 }]);
  expect(JSON.parse(await readFile(join(cwd, 'tasks.json'), 'utf8'))).toMatchObject([
    { data: { id: allowed!.id, text: ALLOWED.slice(1, -1) } },
    { data: { id: flagged!.id, text: 'I will find you and kill you tonight.' } },
  ]);
});
