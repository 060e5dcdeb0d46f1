import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyTable, type RowChoice } from '../../../src/formats/parquet/write-table.ts';
import { duckdb } from '../../helpers/duckdb.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'write-table-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

const ROWS = `select i, 'text ' || i as text, case when i % 2 = 0 then null else i * 1000000000000 end as big,
  [{'role': 'user', 'content': 'q' || i}, null] as messages, map {'k': [i::double, null]} as m, i % 3 = 0 as b,
  1.25::decimal(20, 2) + i as price, timestamptz '2026-01-01 00:00:00+00' as ts, uuid '0a1b2c3d-0000-4000-8000-000000000001' as u,
  '\\xAA\\xBB'::blob as bytes, 1.5::float as f, 3::utinyint as tiny from range(50000) r(i)`;

async function copied(addedColumn: string | null, choice: (row: number) => RowChoice): Promise<string> {
  const input = await open(join(folder, 'in.parquet'));
  const pieces: Uint8Array[] = [];
  const { size } = await input.stat();
  const count = Number(
    (await duckdb(`select count(*)::int as n from '${join(folder, 'in.parquet')}'`))[0]!['n'],
  );
  const rows = await copyTable({
    table: { handle: input, bytes: size },
    addedColumn,
    choices: (async function* () {
      for (let row = 1; row <= count; row++) yield Promise.resolve([choice(row)]);
    })(),
    write: (bytes) => {
      pieces.push(bytes);
      return Promise.resolve();
    },
    signal: new AbortController().signal,
  });
  await input.close();
  const path = join(folder, 'out.parquet');
  await writeFile(path, Buffer.concat(pieces));
  expect(await duckdb(`select count(*)::int as n from '${path}'`)).toEqual([{ n: rows }]);
  return path;
}

test('chosen rows keep their values and their types', async () => {
  await duckdb(`copy (${ROWS}) to '${join(folder, 'in.parquet')}' (format parquet)`);
  const path = await copied(null, (row) => (row % 10 === 1 ? { added: null } : 'left-out'));
  expect(await duckdb(`describe from '${path}'`)).toEqual(
    await duckdb(`describe from '${join(folder, 'in.parquet')}'`),
  );
  const difference = `(from '${path}') except (from '${join(folder, 'in.parquet')}' where i % 10 = 0)`;
  expect(await duckdb(`select count(*)::int as n from (${difference})`)).toEqual([{ n: 0 }]);
  expect(await duckdb(`select count(*)::int as n, sum(i)::varchar as s from '${path}'`)).toEqual([
    { n: 5000, s: '124975000' },
  ]);
});

test('a column of texts can be added, and no row is a table too', async () => {
  await duckdb(`copy (${ROWS} limit 5) to '${join(folder, 'in.parquet')}' (format parquet)`);
  const path = await copied('moderation', (row) => ({ added: row === 2 ? null : `{"row":${row}}` }));
  expect(await duckdb(`select i::int as i, moderation from '${path}' order by i limit 3`)).toEqual([
    { i: 0, moderation: '{"row":1}' },
    { i: 1, moderation: null },
    { i: 2, moderation: '{"row":3}' },
  ]);
  const none = await copied(null, () => 'left-out');
  expect(await duckdb(`select count(*)::int as n from '${none}'`)).toEqual([{ n: 0 }]);
});
