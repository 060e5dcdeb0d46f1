import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { onlyRun } from '../helpers/run-directory.ts';

/** The embedded guard allows the first row and flags the second. */
const ALLOWED = '"Thank you for the quick reply, the parcel arrived this morning."';
const TABLE = `text\n${ALLOWED}\nSomebody should beat this reporter up so badly that she stops writing.\n"unclosed, row\n`;

const JOB = `
sources: [{ path: a.csv }]
guard: 'embedded:'
failIf: { flaggedRate: 0 }
export: { clean: clean.csv, keep: review }
`;

it('a run whose gate trips leaves its clean rows, which a later export finds again', async () => {
  const cwd = await temporaryFolder();
  await writeFile(join(cwd, 'a.csv'), TABLE);
  await writeFile(join(cwd, 'job.yaml'), JOB, { mode: 0o600 });
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
