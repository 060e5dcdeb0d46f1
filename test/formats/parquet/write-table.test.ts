import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { copyTable, type RowChoice } from '../../../src/formats/parquet/write-table.ts';
import { openedFile, temporaryFolder } from '../../helpers/cli.ts';
import { duckdb, parquetFile } from '../../helpers/duckdb.ts';

const ROWS = `select i, 'text ' || i as text, case when i % 2 = 0 then null else i * 1000000000000 end as big,
  [{'role': 'user', 'content': 'q' || i}, null] as messages, map {'k': [i::double, null]} as m, i % 3 = 0 as b,
  1.25::decimal(20, 2) + i as price, timestamptz '2026-01-01 00:00:00+00' as ts, uuid '0a1b2c3d-0000-4000-8000-000000000001' as u,
  '\\xAA\\xBB'::blob as bytes, 1.5::float as f, 3::utinyint as tiny from range(50000) r(i)`;

const table = async (query: string) => parquetFile(join(await temporaryFolder(), 'in.parquet'), query);

const countOf = async (path: string) => (await duckdb(`select count(*)::int as n from '${path}'`))[0]!['n'];

async function copied(
  source: string,
  addedColumn: string | null,
  choice: (row: number) => RowChoice,
): Promise<string> {
  const handle = await openedFile(source);
  const pieces: Uint8Array[] = [];
  const count = Number(await countOf(source));
  const rows = await copyTable({
    table: { handle, bytes: (await handle.stat()).size },
    addedColumn,
    choices: (async function* () {
      for (let row = 1; row <= count; row++) yield Promise.resolve([choice(row)]);
    })(),
    write: async (bytes) => void pieces.push(bytes),
    signal: new AbortController().signal,
  });
  const path = join(await temporaryFolder(), 'out.parquet');
  await writeFile(path, Buffer.concat(pieces));
  expect(await countOf(path)).toBe(rows);
  return path;
}

test('chosen rows keep their values and their types', async () => {
  const source = await table(ROWS);
  const path = await copied(source, null, (row) => (row % 10 === 1 ? { added: null } : 'left-out'));
  expect(await duckdb(`describe from '${path}'`)).toEqual(await duckdb(`describe from '${source}'`));
  const difference = `(from '${path}') except (from '${source}' where i % 10 = 0)`;
  expect(await duckdb(`select count(*)::int as n from (${difference})`)).toEqual([{ n: 0 }]);
  const sums = await duckdb(`select count(*)::int as n, sum(i)::varchar as s from '${path}'`);
  expect(sums).toEqual([{ n: 5000, s: '124975000' }]);
});

test('a column of texts can be added, and no row is a table too', async () => {
  const source = await table(`${ROWS} limit 5`);
  const added = (row: number) => ({ added: row === 2 ? null : `{"row":${row}}` });
  const path = await copied(source, 'moderation', added);
  expect(await duckdb(`select i::int as i, moderation from '${path}' order by i limit 3`)).toEqual([
    { i: 0, moderation: '{"row":1}' },
    { i: 1, moderation: null },
    { i: 2, moderation: '{"row":3}' },
  ]);
  expect(await countOf(await copied(source, null, () => 'left-out'))).toBe(0);
});
