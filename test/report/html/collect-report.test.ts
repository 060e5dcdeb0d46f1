import { cp, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import type { CategoryKey } from '../../../src/domain/taxonomy.ts';
import { collectReport } from '../../../src/report/html/collect-report.ts';
import type { ReportData } from '../../../src/report/html/report-data.ts';
import { temporaryFolder, sharedFolder } from '../../helpers/cli.ts';
import { wordsOf } from '../../helpers/judged-run.ts';
import { judgeBy, judgement } from '../../helpers/moderation.ts';
import { flipBit } from '../../helpers/run-directory.ts';
import { signal } from '../../record/run-fixture.ts';
import { failed } from '../../record/shards.ts';
import { judgedRun } from '../export/judged-run.ts';

/** `0.9 hate privacy` is flagged for these, most probable first; `fail` is an error. */
const byWords = judgeBy((request) => {
  const text = wordsOf(request);
  if (text.startsWith('fail')) return failed('TIMEOUT');
  const [score, ...subcategoryFlags] = text.split(' ') as [string, ...CategoryKey[]];
  const latencyMs = Number(score) * 100;
  if (subcategoryFlags.length === 0) return judgement(Number(score), { flagged: false, latencyMs });
  const subcategoryScores = Object.fromEntries(subcategoryFlags.map((key, at) => [key, 0.9 - at / 10]));
  return judgement(Number(score), { flagged: true, subcategoryFlags, subcategoryScores, latencyMs });
});

const A = ['0.95 hate privacy', '0.9 privacy', '0.6', '0.1', 'fail 1', '0.97 sexual_content', '0.1'];
const B = ['0.52', '0.2', 'fail 2', '0.99 child_sexual_exploitation'];

async function run(cwd: string): Promise<string> {
  const table = (name: string, rows: readonly string[]): Promise<void> =>
    writeFile(join(cwd, name), `id,text\n${rows.map((text, at) => `${name[0]}${at},${text}\n`).join('')}`);
  await table('a.csv', A);
  await table('b.csv', B);
  return judgedRun(cwd, ['a.csv', 'b.csv'], { judge: byWords });
}

const collect = (dir: string): Promise<ReportData> => collectReport(dir, signal);
const ids = (items: ReportData['severe']): string[] => items.map(({ id }) => id);

const folder = sharedFolder();
let dir: string;
let data: ReportData;

beforeAll(async () => {
  dir = await run(folder);
  data = await collect(dir);
});

describe('a collected report', () => {
  it('adds up: by corpus, by modality and by main category', () => {
    const { summary, corpora, modalities, categories } = data;
    expect(corpora.map(({ name, items, errors }) => [name, items, errors])).toEqual([
      ['a.csv', 7, 1],
      ['b.csv', 4, 1],
    ]);
    for (const groups of [corpora, modalities]) {
      for (const key of ['allow', 'review', 'block'] as const)
        expect(groups.reduce((sum, row) => sum + row[key], 0)).toBe(summary.by_decision[key]);
      for (const { items, allow, review, block, errors } of groups)
        expect(allow + review + block + errors).toBe(items);
    }
    expect(categories.map(({ category, block, review, any }) => [category, block, review, any])).toEqual([
      ['child_sexual_exploitation', 1, 0, 1],
      ['hate', 1, 0, 1],
      ['privacy', 1, 0, 2],
      ['sexual_content', 1, 0, 1],
      [null, 0, 2, 2],
    ]);
    const flagged = categories.reduce((sum, { block, review }) => sum + block + review, 0);
    expect(flagged).toBe(summary.flagged);
    expect(Object.fromEntries(categories.map(({ category, any }) => [category, any]))).toMatchObject(
      summary.by_category,
    );
  });

  it('names the most severe and the slowest items with links, but no restricted one', () => {
    expect(ids(data.severe)).toEqual(['a0', 'a1', 'a2', 'b0']);
    expect(ids(data.slow).slice(0, 2)).toEqual(['a0', 'a1']);
    expect(data.severe[0]).toMatchObject({
      categories: ['hate', 'privacy'],
      file: pathToFileURL(join(folder, 'a.csv')).href,
    });
    expect(data.summary.restricted).toBe(2);
    for (const id of ['a5', 'b3']) expect(JSON.stringify(data)).not.toContain(`"${id}"`);
  });

  it('is not made of a record that failed verification', async () => {
    const copy = join(await temporaryFolder(), basename(dir));
    await cp(dir, copy, { recursive: true });
    await flipBit(join(copy, 'verdicts.parquet'));
    await expect(collect(copy)).rejects.toThrow('verdicts.parquet does not have the hash');
    await expect(collect(await temporaryFolder())).rejects.toMatchObject({ kind: 'usage' });
  });
});
