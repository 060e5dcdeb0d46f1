import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { existsSync } from 'node:fs';
import { expect, it } from 'vitest';
import { Database } from '../../src/analysis/database.ts';
import { DEFAULT_POLICY } from '../../src/domain/policy.ts';
import type { Summary } from '../../src/record/summary/summary.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { temporaryFolder } from '../helpers/cli.ts';
import { judgedRun, NEVER, wordsOf, type Verdict } from '../helpers/judged-run.ts';
import { isDiskFull } from '../../src/files/disk-full.ts';

const VERDICTS: Readonly<Record<string, Verdict>> = {
  calm: verdictOf(0.02, [], [0.01, 0]),
  hateful: verdictOf(0.7, ['openai/hate'], [0.7, 0.01]),
  uneasy: verdictOf(0.3, [], [0.3, 0]),
  worst: verdictOf(0.9, ['openai/sexual/minors'], [0, 0.9]),
  private: verdictOf(0.8, ['qwen3guard/pii'], null),
};

/** Flagged for these categories, if there are any; the other scores are those for hate and for minors. */
function verdictOf(score: number, subcategoryFlags: string[], others: [number, number] | null): Verdict {
  const subcategoryScores = others && { 'openai/hate': others[0], 'openai/sexual/minors': others[1] };
  return { score, flagged: subcategoryFlags.length > 0, subcategoryScores, subcategoryFlags };
}

const POLICY = { ...DEFAULT_POLICY, thresholds: { 'openai/hate': { review: 0.25, block: 0.6 } } };

it('the scores of other taxonomies are decided on, tabled and counted under their own names', async () => {
  const folder = await temporaryFolder();
  const corpus = join(folder, 'comments.csv');
  await writeFile(corpus, `comment\n${Object.keys(VERDICTS).join('\n')}\n`);
  const { dir } = await judgedRun(folder, corpus, {
    policy: POLICY,
    formats: ['jsonl', 'csv'],
    verdictOn: (request) => VERDICTS[wordsOf(request)]!,
  });

  const csv = (await readFile(join(dir, 'verdicts.csv'), 'utf8')).split('\r\n').map((row) => row.split(','));
  const columnOf = (name: string) => csv.slice(1, 6).map((row) => row[csv[0]!.indexOf(name)]);
  expect(columnOf('decided_by')).toEqual([
    ...['', 'openai/hate>=0.6', 'openai/hate>=0.25', 'openai/sexual/minors flagged', 'flagged'],
  ]);
  expect(columnOf('openai/hate')).toEqual(['0.01', '0.7', '0.3', '0', '']);
  expect(columnOf('hate')).toEqual(['', '', '', '', '']);

  const summary = JSON.parse(await readFile(join(dir, 'summary.json'), 'utf8')) as Summary;
  expect(summary).toMatchObject({
    by_category: { 'openai/hate': 1, 'openai/sexual/minors': 1, 'qwen3guard/pii': 1 },
    foreign_scored: { 'openai/hate': 4, 'openai/sexual/minors': 4 },
    foreign_measured: { 'openai/hate': 2, 'openai/sexual/minors': 2, 'qwen3guard/pii': 1 },
    thresholds_unapplied: 1,
    restricted: 1,
  });
  expect(await readFile(join(dir, 'restricted.csv'), 'utf8')).toContain('child_sexual_exploitation');
  expect(await readFile(join(dir, 'flagged.csv'), 'utf8')).not.toContain('comments.csv:5');
  expect(await verifyRun(dir)).toMatchObject({ ok: true });

  const types = await Database.temporary((database) =>
    database.query(
      `SELECT "openai/hate" FROM read_parquet($1) ORDER BY seq`,
      [join(dir, 'verdicts.parquet')],
      NEVER,
    ),
  );
  expect(types.flat()).toEqual([0.01, 0.7, 0.3, 0, null]);
});

const { signal } = new AbortController();

it('a full disk is told as the system tells it', async () => {
  const folder = join(await temporaryFolder(), 'spilled');
  const filling = Database.spillingTo(folder, (database) =>
    database.load(`COPY (SELECT range FROM range(100000)) TO '/dev/full' (FORMAT csv)`, [], signal),
  );
  expect(isDiskFull(await filling.catch((error: unknown) => error))).toBe(true);
  expect(existsSync(folder)).toBe(false);
});
