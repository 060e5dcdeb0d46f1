import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { rowsOf, valuesOf } from '../formats/parquet/read-rows.ts';
import { temporaryFolder } from '../helpers/cli.ts';
import { parquetFile } from '../helpers/duckdb.ts';
import { FILES, mutatedFile, numbers, SEED } from './mutations.ts';

const ROWS = `select 'text ' || md5((i % 50)::varchar) as text, case when i % 3 = 0 then null else i end as id,
  [{'role': 'user', 'content': 'question ' || i}] as messages, map {'a': [i::varchar, null]} as m,
  i::decimal(20, 2) as price from range(300) r(i)`;

const FORMS = [
  "codec 'snappy'",
  "codec 'zstd', parquet_version 'v2'",
  "codec 'zstd', compression_level 19",
  "codec 'lz4_raw'",
  "codec 'gzip'",
  "codec 'uncompressed'",
];

/** What a damaged file may end as, after the rows before the damage. */
const CODES = ['UNREADABLE_SOURCE', 'UNSUPPORTED_TYPE', 'ITEM_TOO_LARGE'];

it(
  `gives ${FILES} damaged Parquet files one end each (FUZZ_SEED=${SEED})`,
  async () => {
    const path = join(await temporaryFolder(), 'damaged.parquet');
    const originals: Buffer[] = [];
    for (const form of FORMS) originals.push(await readFile(await parquetFile(path, ROWS, form)));
    const pick = numbers(SEED);
    const ends = new Map<string, number>();
    for (let index = 0; index < FILES; index++) {
      const whole = originals[index % originals.length]!;
      // Most damage to a file is found in its metadata: every other one has its own ones.
      const footer = whole.subarray(whole.length - 8 - whole.readUInt32LE(whole.length - 8));
      const body = whole.subarray(0, whole.length - footer.length);
      const damaged = index % 2 === 0 ? mutatedFile([body], pick) : mutatedFile(originals, pick);
      const sameLength = Buffer.concat([damaged, Buffer.alloc(body.length)]).subarray(0, body.length);
      await writeFile(path, index % 2 === 0 ? Buffer.concat([sameLength, footer]) : damaged);
      const { records, problem } = await rowsOf(path, { wanted: ['id', 'price'] });
      valuesOf(records.filter(({ error }) => error === null));
      const end = problem?.error.code ?? 'read';
      ends.set(end, (ends.get(end) ?? 0) + 1);
      if (problem !== null) expect(CODES).toContain(end);
    }
    console.info(`seed ${SEED}:`, Object.fromEntries(ends));
  },
  60_000 + FILES * 1_000,
);
