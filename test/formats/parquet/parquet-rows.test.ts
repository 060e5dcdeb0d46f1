import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isFields } from '../../../src/formats/record.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { duckdb, parquetFile } from '../../helpers/duckdb.ts';
import { drawn } from '../../helpers/pictures.ts';
import { settled } from '../../helpers/settled.ts';
import { asked, corpus, readItems } from '../../ingest/read-items.ts';
import { childrenNamed } from '../../normalize/audio/processes.ts';
import { batchesOf, rowsOf, valuesOf } from './read-rows.ts';

const table = async (query: string, options?: string) =>
  parquetFile(join(await temporaryFolder(), 'a.parquet'), query, options);

const TEXTS = `select i as id, case when i % 7 = 0 then null else
  repeat(md5(i::varchar) || ' word ', 1 + (i % 5)::int) end as text, 'label ' || (i % 3) as label
  from range(2100) r(i)`;

test.each(["'snappy'", "'zstd'", "'gzip'", "'brotli'", "'lz4_raw'", "'zstd', parquet_version 'v2'"])(
  'text columns are read from %s',
  async (codec) => {
    const path = await table(TEXTS, `codec ${codec}, row_group_size 2048`);
    const { records, problem } = await rowsOf(path, { wanted: ['id'] });
    expect(problem).toBeNull();
    expect(valuesOf(records)).toEqual(await duckdb(`select id::int as id, text, label from (${TEXTS})`));
    expect(records.map(({ row, line }) => [row, line])).toEqual(records.map((_, index) => [index + 1, null]));
  },
);

test('the old LZ4 codec is named as what is to be changed', async () => {
  const path = await table(TEXTS, "codec 'lz4_raw'");
  const bytes = await readFile(path);
  const LZ4_RAW = Buffer.from('\x15\x0e', 'latin1');
  // The codec follows the name of the column in the metadata, as an integer of Thrift's compact protocol.
  for (const name of ['id', 'text', 'label']) {
    const at = bytes.lastIndexOf(Buffer.concat([Buffer.from(name), LZ4_RAW]));
    expect(at).toBeGreaterThan(0);
    bytes[at + name.length + 1] = 2 * 5;
  }
  await writeFile(path, bytes);
  const { records, problem } = await rowsOf(path, { wanted: ['id'] });
  expect(records).toEqual([]);
  expect(problem?.error).toMatchObject({ code: 'UNSUPPORTED_TYPE', reason: 'parquet_codec' });
});

test('nested columns are read as JSON would hold them, and found by path', async () => {
  const path = await table(`select
    [{'role': 'user', 'content': 'question ' || i}, {'role': 'assistant', 'content': null}] as messages,
    {'text': 'nested ' || i, 'tags': ['a', 'b'], 'n': i::int} as data,
    map {'one': 'value ' || i, 'two': null} as names,
    case when i % 3 = 0 then [] when i % 3 = 1 then null else [['x'], null, []] end as lists
    from range(6) r(i)`);
  const { records } = await rowsOf(path);
  expect(valuesOf(records)).toEqual(
    Array.from({ length: 6 }, (_, i) => ({
      messages: [
        { role: 'user', content: `question ${i}` },
        { role: 'assistant', content: null },
      ],
      data: { text: `nested ${i}`, tags: ['a', 'b'], n: i },
      names: { one: `value ${i}`, two: null },
      lists: [[], null, [['x'], null, []]][i % 3],
    })),
  );
  const { content } = records[2]!;
  if (!isFields(content)) throw new Error('no values');
  expect(content.get('data.text')).toBe('nested 2');
  expect(content.get('DATA.Tags')).toEqual(['a', 'b']);
  expect(content.get('messages.content')).toEqual(['question 2', null]);
});

test('typed columns are read where they are wanted, and not otherwise', async () => {
  const path = await table(`select
    9007199254740993::bigint as big, 7::int as small, true as yes, 1.5::double as real,
    -1.25::decimal(9, 2) as price, date '2026-02-03' as day, timestamp '2026-02-03 04:05:06.789' as moment,
    '0a1b2c3d-0000-4000-8000-000000000001'::uuid as uuid, 'words' as text`);
  const wanted = ['big', 'small', 'yes', 'real', 'price', 'day', 'moment', 'uuid'];
  expect(valuesOf((await rowsOf(path, { wanted })).records)).toEqual([
    {
      big: '9007199254740993',
      small: 7,
      yes: true,
      real: 1.5,
      price: '-1.25',
      day: '2026-02-03',
      moment: '2026-02-03T04:05:06.789Z',
      uuid: '0a1b2c3d-0000-4000-8000-000000000001',
      text: 'words',
    },
  ]);
  const [row] = valuesOf((await rowsOf(path)).records);
  expect(row).toMatchObject({ big: null, price: null, text: 'words' });
});

test('a row over the limit is a bad record between good ones', async () => {
  const path = await table(`select case when i = 1 then repeat('x', 5000) else 'short ' || i end as text
    from range(3) r(i)`);
  const { records } = await rowsOf(path, { recordBytes: 1000 });
  expect(records.map(({ error }) => error?.code ?? null)).toEqual([null, 'ITEM_TOO_LARGE', null]);
});

test('a file cut anywhere is unreadable', async () => {
  const path = await table(`${TEXTS} limit 40`);
  const whole = await readFile(path);
  for (const bytes of [0, 11, 12, 100, whole.length - 1]) {
    await writeFile(path, whole.subarray(0, bytes));
    const { records, problem } = await rowsOf(path);
    expect(records).toEqual([]);
    expect(problem?.error.code).toBe('UNREADABLE_SOURCE');
  }
});

/** The bytes of a file with some of them replaced by as many others, everywhere. */
async function replaceIn(path: string, text: string, by: Buffer): Promise<void> {
  const bytes = await readFile(path);
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1)) by.copy(bytes, at);
  await writeFile(path, bytes);
}

const CAFE = Buffer.from('caf\u00e9 au lait', 'latin1');

test('a text that is not UTF-8 ends the file, and its column is named', async () => {
  const rows = `select i as id, 'fine ' || i as label,
    case when i = 5000 then 'cafX au lait' else 'text ' || (i % 7) end as body from range(9000) r(i)`;
  const path = await table(rows, 'codec uncompressed, row_group_size 2048');
  await replaceIn(path, 'cafX au lait', CAFE);
  const items = await readItems([corpus(path, { textColumns: ['body'] })]);
  const rest = items.pop();
  expect(rest?.settled?.error).toEqual({
    code: 'UNREADABLE_SOURCE',
    message: 'the Parquet file has text that is not UTF-8, in "body"',
  });
  expect(items.length).toBeGreaterThanOrEqual(4096);
  expect(items.map(asked)).toEqual(items.map((_item, i) => `text ${i % 7}`));
});

test('bytes that are not text are an error of their row, and nothing in a column that is not judged', async () => {
  const rows = `select (case when i = 1 then 'cafX' else 'text ' || i end)::blob as text,
    '\\xff\\x00\\xfe'::blob as sound from range(3) r(i)`;
  const path = await table(rows, 'codec uncompressed, dictionary_size_limit 1');
  await replaceIn(path, 'cafX', CAFE.subarray(0, 4));
  const items = await readItems([corpus(path)]);
  expect(items.map(asked)).toEqual(['text 0', 'UNSUPPORTED_TYPE', 'text 2']);
});

test('an image in a column of bytes is judged as an image', async () => {
  const png = (await drawn(16, 16).png().toBuffer()).toString('hex');
  const path = await table(`select {'bytes': from_hex('${png}'), 'path': null} as image`);
  const [item] = await readItems([corpus(path)]);
  expect([item?.settled, item?.request?.modality]).toEqual([null, 'image']);
});

test('an encrypted file is named as such, and a table without rows has none', async () => {
  const path = await table(`${TEXTS} limit 3`);
  await writeFile(path, Buffer.concat([(await readFile(path)).subarray(0, -4), Buffer.from('PARE')]));
  const encrypted = { code: 'UNREADABLE_SOURCE', message: 'the Parquet file is encrypted' };
  expect((await rowsOf(path)).problem?.error).toMatchObject(encrypted);
  expect(await rowsOf(await table(`${TEXTS} limit 0`))).toEqual({ records: [], problem: null });
});

test('rows before a damage are read', async () => {
  const rows = "select 'text number ' || i || 'Q' as text from range(9000) r(i)";
  const path = await table(rows, 'codec uncompressed, dictionary_size_limit 1, row_group_size 4096');
  const bytes = await readFile(path);
  // The length of a text, before it.
  bytes.writeUInt32LE(0x7fffffff, bytes.indexOf('text number 7000Q') - 4);
  await writeFile(path, bytes);
  const { records, problem } = await rowsOf(path);
  expect(problem?.error.code).toBe('UNREADABLE_SOURCE');
  // DuckDB decodes 2,048 rows at once.
  expect(records.length).toBeGreaterThan(7000 - 2048);
  expect(valuesOf(records)).toEqual(records.map((_, i) => ({ text: `text number ${i}Q` })));
});

test('the open file is read, whatever its name is by now', async () => {
  const path = await table("select 'opened ' || md5(i::varchar) as text from range(5000) r(i)");
  const opened = async (): Promise<void> => {
    await rm(path);
    await parquetFile(path, "select 'other' as text");
  };
  const { records } = await rowsOf(path, { opened, recordBytes: 1000 });
  for (const { text } of valuesOf(records)) expect(text).toMatch(/^opened /);
  expect(records).toHaveLength(5000);
});

test('an abort ends the process that reads', async () => {
  const path = await table('select md5(i::varchar) as text from range(20000) r(i)');
  const abort = new AbortController();
  const reading = (async () => {
    const batches = batchesOf(path, { signal: abort.signal, recordBytes: 1000 });
    for await (const batch of batches) if (batch.length > 0) abort.abort();
  })();
  await expect(reading).rejects.toThrow('aborted');
  await settled(() => childrenNamed('node', process.pid).length === 0);
});
