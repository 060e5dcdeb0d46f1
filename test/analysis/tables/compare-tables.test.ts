import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { compareTables } from '../../../src/analysis/tables/compare-tables.ts';
import { verifyRun } from '../../../src/record/verify/verify.ts';
import { reseal } from '../../record/reseal.ts';
import { finishedRun, resultOf, shardOf } from '../../record/run-fixture.ts';

it('tables that somebody made anew with other content are found, by what is in them', async () => {
  const { dir } = await finishedRun([resultOf(shardOf(0, [0, 1, 2, 3]))]);
  expect(await verifyRun(dir, { compareTables })).toMatchObject({ ok: true });

  const path = join(dir, 'flagged.csv');
  const text = await readFile(path, 'utf8');
  await writeFile(path, text.replace('0.93', '0.92'));
  await reseal(dir);
  expect(await verifyRun(dir)).toMatchObject({ ok: true });
  expect(await verifyRun(dir, { compareTables })).toEqual({
    ok: false,
    problem: 'flagged.csv line 2 does not match the verdict log',
  });
  await writeFile(path, text);

  const other = await finishedRun([resultOf(shardOf(0, [0, 1, 2]))]);
  await rename(join(other.dir, 'verdicts.parquet'), join(dir, 'verdicts.parquet'));
  await reseal(dir);
  expect(await verifyRun(dir)).toMatchObject({ ok: true });
  expect(await verifyRun(dir, { compareTables })).toEqual({
    ok: false,
    problem: 'verdicts.parquet does not have the rows of the verdict log',
  });
});
