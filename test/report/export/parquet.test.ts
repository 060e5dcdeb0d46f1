import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../helpers/cli.ts';
import { jsonLines } from '../../helpers/run-directory.ts';
import { duckdb } from '../../helpers/duckdb.ts';
import { exported, judgedRun } from './judged-run.ts';

const ROWS = `SELECT i AS id, CASE WHEN i % 3 = 0 THEN 'BLOCK ' ELSE 'text ' END || i AS text,
  [i, i + 1] AS numbers, {'a': i / 2, 'b': DATE '2026-01-01'} AS nested FROM range(1, 8) t(i)`;

it('rows of a Parquet file keep their values and types; annotated ones have a further column', async () => {
  const cwd = await temporaryFolder();
  const [source, clean, annotated] = ['a', 'clean', 'annotated'].map((name) => join(cwd, `${name}.parquet`));
  await duckdb(`COPY (${ROWS}) TO '${source}' (FORMAT parquet)`, 'SELECT 1');
  const dir = await judgedRun(cwd, ['a.parquet']);
  const { status, result } = await exported(
    cwd,
    dir,
    '--clean',
    'clean.parquet',
    '--annotate',
    'annotated.parquet',
  );
  expect([status, result!.rows, result!.by_reason]).toEqual([0, { kept: 5, rejected: 2 }, { block: 2 }]);
  expect(await duckdb(`SELECT * FROM '${clean}'`)).toEqual(
    await duckdb(`SELECT * FROM (${ROWS}) WHERE id % 3 <> 0`),
  );
  expect(await duckdb(`DESCRIBE SELECT * FROM '${clean}'`)).toEqual(
    await duckdb(`DESCRIBE SELECT * FROM '${source}'`),
  );
  const rejected = await jsonLines<{ row: number; line: null }>(join(cwd, 'clean.rejected.jsonl'));
  expect(rejected.map(({ row, line }) => [row, line])).toEqual([
    [3, null],
    [6, null],
  ]);
  expect(
    await duckdb(`SELECT id, moderation->>'decision' AS decision FROM '${annotated}' WHERE id < 4`),
  ).toEqual([
    { id: '1', decision: 'allow' },
    { id: '2', decision: 'allow' },
    { id: '3', decision: 'block' },
  ]);
  const taken = await exported(cwd, dir, '--annotate', 'x.parquet', '--annotate-key', 'Nested');
  expect([taken.status, taken.stderr]).toEqual([2, expect.stringContaining('--annotate-key')]);
});

it('nothing is exported of a Parquet file that is not what the run read', async () => {
  const cwd = await temporaryFolder();
  const source = join(cwd, 'a.parquet');
  await duckdb(`COPY (${ROWS}) TO '${source}' (FORMAT parquet)`, 'SELECT 1');
  const dir = await judgedRun(cwd, ['a.parquet']);
  await duckdb(
    `COPY (SELECT * REPLACE (id + 1 AS id) FROM (${ROWS})) TO '${source}' (FORMAT parquet)`,
    'SELECT 1',
  );
  const changed = await exported(cwd, dir, '--clean', 'clean.parquet');
  expect([changed.status, changed.result!.by_reason]).toEqual([5, { source_changed: 7 }]);
  await writeFile(source, 'no table');
  expect((await exported(cwd, dir, '--clean', 'other.parquet')).status).toBe(5);
});
