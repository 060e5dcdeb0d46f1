import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isFields } from '../../../src/formats/record.ts';
import { duckdb } from '../../helpers/duckdb.ts';
import { rowsOf, valuesOf } from './read-rows.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parquet-rows-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true });
});

const TEXTS = `select i as id, case when i % 7 = 0 then null else
  repeat(md5(i::varchar) || ' word ', 1 + (i % 5)::int) end as text, 'label ' || (i % 3) as label
  from range(3000) r(i)`;

describe('text columns as DuckDB writes them', () => {
  test.each([
    ['snappy', ''],
    ['zstd', ''],
    ['zstd', ', compression_level 19'],
    ['gzip', ''],
    ['brotli', ''],
    ['lz4_raw', ''],
    ['uncompressed', ''],
    ['zstd', ", parquet_version 'v2'"],
  ])('are read from %s%s', async (codec, more) => {
    const path = join(folder, 'texts.parquet');
    await duckdb(
      `copy (${TEXTS}) to '${path}' (format parquet, codec '${codec}', row_group_size 2048${more})`,
    );
    const { records, problem } = await rowsOf(path, { wanted: ['id'] });
    expect(problem).toBeNull();
    expect(valuesOf(records)).toEqual(
      (await duckdb(`select id::int as id, text, label from (${TEXTS})`)).map((row) => ({ ...row })),
    );
    expect(records.map(({ row, line }) => [row, line])).toEqual(records.map((_, index) => [index + 1, null]));
  });
});

test('nested columns are read as JSON would hold them, and found by path', async () => {
  const path = join(folder, 'nested.parquet');
  await duckdb(`copy (select
    [{'role': 'user', 'content': 'question ' || i}, {'role': 'assistant', 'content': null}] as messages,
    {'text': 'nested ' || i, 'tags': ['a', 'b'], 'n': i::int} as data,
    map {'one': 'value ' || i, 'two': null} as names,
    case when i % 3 = 0 then [] when i % 3 = 1 then null else [['x'], null, []] end as lists
    from range(6) r(i)) to '${path}' (format parquet)`);
  const { records } = await rowsOf(path);
  expect(valuesOf(records)).toEqual(
    Array.from({ length: 6 }, (_, i) => ({
      messages: [
        { role: 'user', content: `question ${i}` },
        { role: 'assistant', content: null },
      ],
      data: { text: `nested ${i}`, tags: ['a', 'b'], n: i },
      names: { one: `value ${i}`, two: null },
      lists: i % 3 === 0 ? [] : i % 3 === 1 ? null : [['x'], null, []],
    })),
  );
  const { content } = records[2]!;
  if (!isFields(content)) throw new Error('no values');
  expect(content.get('data.text')).toBe('nested 2');
  expect(content.get('DATA.Tags')).toEqual(['a', 'b']);
  expect(content.get('messages.content')).toEqual(['question 2', null]);
  expect(content.get('data.absent')).toBeUndefined();
  expect(content.positionOf('data.text')).toBe(1);
});

test('typed columns are read where they are wanted, and not otherwise', async () => {
  const path = join(folder, 'typed.parquet');
  await duckdb(`copy (select 9007199254740993::bigint as big, 7::int as small, true as yes, 1.5::double as real,
    -1.25::decimal(9, 2) as price, date '2026-02-03' as day, timestamp '2026-02-03 04:05:06.789' as moment,
    '0a1b2c3d-0000-4000-8000-000000000001'::uuid as uuid, 'words' as text) to '${path}' (format parquet)`);
  const wanted = ['big', 'small', 'yes', 'real', 'price', 'day', 'moment', 'uuid'];
  expect(valuesOf((await rowsOf(path, { wanted })).records)).toEqual([
    {
      ...{ big: '9007199254740993', small: 7, yes: true, real: 1.5, price: '-1.25' },
      ...{ day: '2026-02-03', moment: '2026-02-03T04:05:06.789Z' },
      ...{ uuid: '0a1b2c3d-0000-4000-8000-000000000001', text: 'words' },
    },
  ]);
  const [row] = valuesOf((await rowsOf(path)).records);
  expect(row).toMatchObject({ big: null, price: null, text: 'words' });
});

test('a row over the limit, or with bytes that are not text, is a bad record between good ones', async () => {
  const path = join(folder, 'bad.parquet');
  await duckdb(`copy (select case when i = 1 then repeat('x', 5000) else 'short ' || i end as text
    from range(3) r(i)) to '${path}' (format parquet)`);
  const { records } = await rowsOf(path, { recordBytes: 1000 });
  expect(records.map(({ error }) => error?.code ?? null)).toEqual([null, 'ITEM_TOO_LARGE', null]);
});

test('a file cut anywhere is unreadable', async () => {
  const path = join(folder, 'whole.parquet');
  await duckdb(`copy (${TEXTS} limit 40) to '${path}' (format parquet)`);
  const whole = await readFile(path);
  for (const bytes of [0, 3, 8, 11, 12, 100, whole.length - 9, whole.length - 1]) {
    await writeFile(join(folder, 'cut.parquet'), whole.subarray(0, bytes));
    const { records, problem } = await rowsOf(join(folder, 'cut.parquet'));
    expect(records).toEqual([]);
    expect(problem?.error.code).toBe('UNREADABLE_SOURCE');
  }
});
