import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, it } from 'vitest';
import type { CsvSeparator } from '../../../src/config/run-config.ts';
import type { Outcome } from '../../../src/domain/outcome.ts';
import type { Item } from '../../../src/domain/item.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { finishedRun, resultOf, shardOf, verdict } from '../../record/run-fixture.ts';

type Row = Record<string, string>;

async function rowsOf(dir: string, name: string, delimiter: CsvSeparator = ','): Promise<Row[]> {
  return parse(await readFile(join(dir, name)), { bom: true, columns: true, delimiter });
}

/** Flags items under these categories, with a score each. */
function flagging(given: readonly (readonly [score: number, flags: readonly string[] | null])[]) {
  return (item: Item): Outcome => {
    const [score, subcategoryFlags] = given[item.seq]!;
    const { judgement } = verdict(item, { flagged: score >= 0.5, score });
    return { judgement: { ...judgement!, subcategoryScores: null, subcategoryFlags }, failure: null };
  };
}

const POLICY = {
  thresholds: { default: { review: 0.3, block: 0.8 } },
  allowFlagged: false,
  allowPartial: false,
};

it('flagged.csv is in order of severity, and says in words what was flagged and why', async () => {
  const given = [
    [0.4, null],
    [0.9, ['hate', 'suicide_self_harm']],
    [0.1, null],
    [0.95, ['made up']],
    [0.7, []],
    [0.9, ['privacy']],
  ] as const;
  const shard = shardOf(0, [0, 1, 2, 3, 4, 5]);
  const { dir, summary } = await finishedRun([resultOf(shard, flagging(given))], { policy: POLICY });
  const rows = await rowsOf(dir, 'flagged.csv');
  expect(Object.keys(rows[0]!).slice(0, 12)).toEqual(
    'decision decided_by score flagged_categories guard_flagged path row line part turn id seq'.split(' '),
  );
  const high = 'Overall score at or above 0.8';
  const low = 'Overall score at or above 0.3';
  expect(
    rows.map((row) => [row['seq'], row['decision'], row['decided_by'], row['flagged_categories']]),
  ).toEqual([
    ['3', 'block', high, 'made up'],
    ['1', 'block', high, 'Hate; Suicide & Self-Harm'],
    ['5', 'block', high, 'Privacy'],
    ['4', 'review', low, 'No category'],
    ['0', 'review', low, 'No category'],
  ]);
  expect(rows.map((row) => row['guard_flagged'])).toEqual(['yes', 'yes', 'yes', 'yes', 'no']);
  const without = rows.filter((row) => row['flagged_categories'] === 'No category');
  expect(summary.decisions_without_category).toEqual({ allow: 0, review: without.length, block: 0 });
  expect(await verifyRun(dir)).toMatchObject({ ok: true });
});
