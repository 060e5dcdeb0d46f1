import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { Reviews } from '../../../src/dashboard/reviews/reviews.ts';
import type { Decision } from '../../../src/domain/outcome.ts';
import type { CategoryKey } from '../../../src/domain/taxonomy.ts';
import { folderWith } from '../../helpers/cli.ts';
import { judgeBy, judgement } from '../../helpers/moderation.ts';
import { jsonLines, outcomes } from '../../helpers/run-directory.ts';
import { byWords, exported, judgedRun, outcomeByWords } from './judged-run.ts';

/** As `byWords`, and gives what holds SECRET a score for the category that restricts; the overall score decides. */
const withSecrets = judgeBy((request) => {
  if (!JSON.stringify(request).includes('SECRET')) return outcomeByWords(request);
  return judgement(0.6, { flagged: false, subcategoryScores: { child_sexual_exploitation: 0.55 } });
});

const review = async (
  dir: string,
  seq: number,
  decision: Decision,
  categories: CategoryKey[] | null,
): Promise<void> => {
  const line = (await outcomes(dir))[seq]!;
  await Reviews.beside(dir).add(dir, line, { decision, categories, note: '' });
};

describe('restricted rows', () => {
  it('are in no export, whatever decided on them and whatever is kept', async () => {
    const cwd = await folderWith({ 'a.csv': 'text\nfine\nSECRET\nREVIEW\n' });
    const dir = await judgedRun(cwd, ['a.csv'], { judge: withSecrets });
    const clean = await exported(cwd, dir, '--clean', 'clean.csv', '--keep', 'review');
    expect(await readFile(join(cwd, 'clean.csv'), 'utf8')).toBe('text\nfine\nREVIEW\n');
    expect(clean).toMatchObject({ status: 0, result: { by_reason: { restricted: 1 } } });
    await exported(cwd, dir, '--annotate', 'all.csv');
    const all = await readFile(join(cwd, 'all.csv'), 'utf8');
    expect(all.split('\n').filter((line) => /^(fine|REVIEW)/.test(line))).toHaveLength(2);
    expect(all).not.toContain('SECRET');
    const [entry] = await jsonLines<{ row: number; reasons: object[] }>(join(cwd, 'all.rejected.jsonl'));
    expect(entry).toMatchObject({ row: 2, reasons: [{ reason: 'restricted', seq: 1 }] });
  });

  it('are in no export of another run of the folder, where it could not judge them either', async () => {
    const cwd = await folderWith({
      'a.csv': 'text\nfine\nSECRET FAIL\nSECRET\n',
      'b.jsonl':
        '{"text":"fine"}\n{"text":"SECRET"}\n{"prompt":"SECRET","response":"r"}\n{"text":"ok","list":["x",{"y":"SECRET"}]}\n',
    });
    await judgedRun(cwd, ['a.csv'], { judge: withSecrets });
    const dir = await judgedRun(cwd, ['a.csv'], { judge: byWords });
    await exported(cwd, dir, '--annotate', 'all.csv');
    expect(await readFile(join(cwd, 'all.csv'), 'utf8')).not.toContain('SECRET');
    const other = await judgedRun(cwd, ['b.jsonl'], { judge: byWords });
    await exported(cwd, other, '--clean', 'b-clean.jsonl');
    expect(await readFile(join(cwd, 'b-clean.jsonl'), 'utf8')).toBe('{"text":"fine"}\n');
    await exported(cwd, other, '--annotate', 'b-all.jsonl');
    expect(await readFile(join(cwd, 'b-all.jsonl'), 'utf8')).not.toContain('SECRET');
  });

  it('are also pictures whose caption is restricted by itself in another run', async () => {
    const cwd = await folderWith({ 'a.csv': 'text\nfine\nSECRET words\n' });
    await judgedRun(cwd, ['a.csv'], { judge: withSecrets });
    await mkdir(join(cwd, 'up'));
    for (const [name, caption] of Object.entries({ one: 'SECRET words', two: 'a meadow' })) {
      const picture = sharp({ create: { width: 16, height: 16, channels: 3, background: 'green' } });
      await writeFile(join(cwd, 'up', `${name}.png`), await picture.png().toBuffer());
      await writeFile(join(cwd, 'up', `${name}.txt`), caption);
    }
    const dir = await judgedRun(cwd, ['up'], { judge: byWords });
    await exported(cwd, dir, '--clean', 'clean');
    const rejected = await jsonLines<{ path: string; reasons: object[] }>(join(cwd, 'clean.rejected.jsonl'));
    const [one, two] = ['one', 'two'].map((name) => rejected.find(({ path }) => path === `up/${name}.png`));
    expect(one).toMatchObject({ reasons: [{ reason: 'restricted' }] });
    expect(JSON.stringify(two ?? {})).not.toContain('restricted');
  });

  it('are also those that a person found, and cannot be kept by ignoring reviews', async () => {
    const cwd = await folderWith({ 'a.csv': 'text\none\ntwo\nthree\nfour\n' });
    const dir = await judgedRun(cwd, ['a.csv']);
    await review(dir, 0, 'block', ['child_sexual_exploitation']);
    await review(dir, 1, 'block', null);
    await review(dir, 2, 'allow', ['hate']);
    await review(dir, 3, 'allow', []);
    const { result } = await exported(cwd, dir, '--clean', 'clean.csv');
    expect(result!.by_reason).toEqual({ restricted: 1, reviewed: 2 });
    expect(await readFile(join(cwd, 'clean.csv'), 'utf8')).toBe('text\nfour\n');
    await exported(cwd, dir, '--clean', 'all.csv', '--ignore-reviews');
    expect(await readFile(join(cwd, 'all.csv'), 'utf8')).toBe('text\ntwo\nthree\nfour\n');
    await exported(cwd, dir, '--annotate', 'annotated.csv');
    expect(await readFile(join(cwd, 'annotated.csv'), 'utf8')).not.toContain('one');
  });
});
