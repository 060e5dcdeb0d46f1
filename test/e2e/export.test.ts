import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { expect, it } from 'vitest';
import { Reviews } from '../../src/dashboard/reviews/reviews.ts';
import { typed } from '../cli/terminal.ts';
import { folderWith, guardsweep, printedRun } from '../helpers/cli.ts';
import { onlyRun, outcomes } from '../helpers/run-directory.ts';
import { syntheticGuard } from '../helpers/synthetic-guard.ts';

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

it('a caption is written with its pictures, once where two of them share it', async () => {
  const meadow = sharp({ create: { width: 16, height: 16, channels: 3, background: 'green' } });
  const cwd = await folderWith({
    'up/a.png': await meadow.png().toBuffer(),
    'up/a.jpg': await meadow.jpeg().toBuffer(),
    'up/a.txt': 'a meadow\n',
    'policy.yaml': 'allowFlagged: true\n',
  });
  const judging = [
    '--guard',
    (await syntheticGuard()).address,
    '--canaries',
    'off',
    '--policy',
    'policy.yaml',
  ];
  const { status, stderr } = await guardsweep(['enqueue', 'up', ...judging, '--export-clean', 'out'], {
    cwd,
  });
  expect([status, stderr]).toEqual([0, expect.stringContaining('clean: 2 of 2 rows in ')]);
  expect(await readFile(join(cwd, 'out/up/a.txt'), 'utf8')).toBe('a meadow\n');
  const about = JSON.parse(await readFile(join(cwd, 'out.export.json'), 'utf8')) as { files: object[] };
  expect(about.files).toMatchObject([
    { path: 'up/a.jpg', source: 'up/a.jpg', rows: 1 },
    { path: 'up/a.txt', source: 'up/a.jpg', rows: 0, bytes: 9 },
    { path: 'up/a.png', source: 'up/a.png', rows: 1 },
  ]);
});

it('what people decided is written as labels that replay reads, and for Label Studio', async () => {
  const cwd = await folderWith({ 'a.csv': TABLE });
  const dir = printedRun(await guardsweep(['enqueue', 'a.csv', '--allow-errors', '--no-report'], { cwd }));
  const [allowed, flagged] = await outcomes(dir);
  const command = (args: string[]) => typed(args, { context: { cwd, env: process.env } });
  const labels = (out: string) => command(['export', dir, '--labels', out, '--json']);
  expect(JSON.parse((await labels('none.jsonl')).stdout)).toMatchObject([{ kind: 'labels', reviewed: 0 }]);
  const unreviewed = await command(['export', dir, '--labels', 'empty.jsonl']);
  expect(unreviewed.stdout).toMatch(
    /reviewed this run yet: review it in the dashboard, which guardsweep serve/,
  );
  const reviews = Reviews.beside(dir);
  await reviews.add(dir, allowed!, { decision: 'block', categories: null, note: '' });
  await reviews.add(dir, allowed!, { decision: 'allow', categories: null, note: 'harmless' });
  await reviews.add(dir, flagged!, { decision: 'block', categories: ['violent_crimes'], note: '' });

  const said = await command(['export', dir, '--labels', 'labels.jsonl']);
  expect([said.status, said.stdout]).toEqual([
    0,
    `Labels of 2 reviewed items\n${join(cwd, 'labels.jsonl')}\n`,
  ]);
  const replayed = await command(['replay', dir, '--labels', 'labels.jsonl', '--json']);
  expect(JSON.parse(replayed.stdout)).toMatchObject({ labels: { labels: 15, unmatched: 0 } });
  expect(JSON.parse((await labels('tasks.json')).stdout)).toMatchObject([{ reviewed: 2 }]);
  const tasks = JSON.parse(await readFile(join(cwd, 'tasks.json'), 'utf8')) as object[];
  const harmless = ALLOWED.slice(1, -1);
  const harmful = 'I will find you and kill you tonight.';
  expect(tasks).toMatchObject([
    { data: { id: allowed!.id, text: harmless } },
    { data: { id: flagged!.id, text: harmful } },
  ]);
  expect(tasks).toHaveLength(2);

  await reviews.add(dir, allowed!, {
    decision: 'block',
    categories: ['child_sexual_exploitation'],
    note: '',
  });
  for (const out of ['apart.jsonl', 'apart.json']) {
    expect(JSON.parse((await labels(out)).stdout)).toMatchObject([{ reviewed: 1, restricted: 1 }]);
    const text = await readFile(join(cwd, out), 'utf8');
    expect(text).toContain(flagged!.content_sha256!);
    expect(text).not.toContain(allowed!.content_sha256!);
    expect(text).not.toContain(harmless);
  }

  const refused: readonly (readonly [out: string, why: string])[] = [
    ['labels.csv', 'ends in .jsonl'],
    ['labels.jsonl', '--labels: the file already exists'],
    [join(dir, 'labels.jsonl'), '--labels: the file would be in a run directory'],
  ];
  for (const [out, why] of refused) {
    expect(await labels(out)).toMatchObject({ status: 2, stderr: expect.stringContaining(why) as string });
  }
});
