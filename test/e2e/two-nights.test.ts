import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { Reviews } from '../../src/dashboard/reviews/reviews.ts';
import { folderWith, guardsweep, printedRun } from '../helpers/cli.ts';
import { outcomes } from '../helpers/run-directory.ts';

it('the end of a run says what is new since the run before, decided and open, or that it could not be counted', async () => {
  const cwd = await folderWith({ 'a.csv': 'text\nI will find you and kill you tonight.\n"Thank you."\n' });
  const night = () => guardsweep(['enqueue', 'a.csv', '--no-report'], { cwd });
  const first = await night();
  expect(first.stdout).not.toContain('Flagged:');
  const dir = printedRun(first);
  const [flagged] = await outcomes(dir);
  expect(flagged!.decision).toBe('block');
  await Reviews.beside(dir).add(dir, flagged!, { decision: 'allow', categories: null, note: 'a song' });
  await appendFile(join(cwd, 'a.csv'), 'I will kill you and your family.\n');
  expect((await night()).stdout).toContain('\nFlagged: 1 new, 1 seen before, 1 decided, 1 open\n');

  const decisions = join(dirname(dir), '.decisions.jsonl');
  await appendFile(decisions, 'torn by a crash');
  expect((await night()).stdout).toContain('1 decided, 1 open\n');
  await Reviews.beside(dir).add(dir, flagged!, { decision: null, categories: null, note: '' });
  expect((await night()).stdout).toContain('0 decided, 2 open\n');
  await writeFile(decisions, (await readFile(decisions, 'utf8')).replace('a song', 'no song'));
  const damaged = await night();
  expect(damaged.status).toBe(0);
  expect(damaged.stdout).toMatch(/\nReviews: not counted: \.decisions\.jsonl line 3 does not follow/);
});
