import { randomInt } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../helpers/cli.ts';
import { exported, judgedRun } from './judged-run.ts';
import { rounds } from '../../helpers/corpus.ts';
import { jsonLines } from '../../helpers/run-directory.ts';
import { duckdb } from '../../helpers/duckdb.ts';

/** A part of a file: a row, which may be marked to be left out, or what is between rows. */
interface Piece {
  readonly text: string;
  readonly isRow: boolean;
}

const textOf = (pieces: readonly Piece[]): string => pieces.map(({ text }) => text).join('');

/** Text of a cell that reads as what it says and is not blank. */
const plainText = fc
  .string({ unit: fc.constantFrom('a', 'b', ' ', 'é', '日', "'", '#'), maxLength: 8 })
  .map((x) => `x${x}`);

function csvFile(lineBreak: string, delimiter: string): fc.Arbitrary<{ head: string; pieces: Piece[] }> {
  const quoted = fc
    .string({ unit: fc.constantFrom('a', '"', '\n', '\r\n', ',', ';', 'é'), maxLength: 8 })
    .map((text) => `"q${text.replaceAll('"', '""')}"`);
  const mark = fc.constantFrom('', '', 'BLOCK');
  const cell = fc.oneof(plainText, quoted);
  const row = fc.tuple(fc.constantFrom('1', '"2"', ''), mark, cell).map(([id, word, text]) => ({
    text: `${id}${delimiter}${text.startsWith('"') ? `"${word}${text.slice(1)}` : word + text}${lineBreak}`,
    isRow: true,
  }));
  const blank = fc
    .constantFrom(lineBreak, `  ${lineBreak}`, `\u00a0${lineBreak}`)
    .map((text) => ({ text, isRow: false }));
  const pieces = fc.array(fc.oneof({ weight: 4, arbitrary: row }, { weight: 1, arbitrary: blank }), {
    minLength: 1,
    maxLength: 8,
  });
  const head = fc.constantFrom('', '\ufeff').map((bom) => `${bom}id${delimiter}text${lineBreak}`);
  return fc.record({ head, pieces });
}

const csv = fc
  .tuple(fc.constantFrom('\n', '\r\n'), fc.constantFrom(',', ';', '\t'), fc.boolean())
  .chain(([lineBreak, delimiter, endsLine]) =>
    csvFile(lineBreak, delimiter).map(({ head, pieces }) => ({
      name: 'csv',
      head,
      pieces: endsLine ? pieces : unended(pieces),
    })),
  );

const jsonl = fc
  .tuple(
    fc.constantFrom('', '\ufeff'),
    fc.array(
      fc.oneof(
        {
          weight: 4,
          arbitrary: fc
            .tuple(fc.constantFrom('', '', 'BLOCK'), fc.string(), fc.constantFrom('', ' ', '\t'))
            .map(([word, text, space]) => ({
              text: `${space}{"text":${space}${JSON.stringify(`x${word} ${text}`)}, "n": 1.50}${space}`,
              isRow: true,
            })),
        },
        { weight: 1, arbitrary: fc.constantFrom('', ' ', '\t').map((text) => ({ text, isRow: false })) },
      ),
      { minLength: 1, maxLength: 8 },
    ),
    fc.constantFrom('\n', '\r\n'),
    fc.boolean(),
  )
  .map(([head, lines, lineBreak, endsLine]) => {
    const pieces = lines.map(({ text, isRow }) => ({ text: text + lineBreak, isRow }));
    return { name: 'jsonl', head, pieces: endsLine ? pieces : unended(pieces) };
  });

/** Without the last line break. */
function unended(pieces: readonly Piece[]): Piece[] {
  return pieces.map((piece, index) =>
    index === pieces.length - 1 ? { ...piece, text: piece.text.replace(/\r?\n$/, '') } : piece,
  );
}

const seed = randomInt(2 ** 31);

it(`what is exported of any table or JSON Lines is the file without the rows left out (seed ${seed})`, async () => {
  const cwd = await temporaryFolder();
  const up = join(cwd, 'up');
  await mkdir(up);
  const files = fc.sample(fc.oneof(csv, jsonl), { numRuns: rounds(150), seed });
  const expected = new Map<string, string>();
  for (const [index, { name, head, pieces }] of files.entries()) {
    if (!pieces.some(({ isRow }) => isRow)) continue;
    const path = `up/${index}.${name}`;
    await writeFile(join(cwd, path), head + textOf(pieces));
    expected.set(path, head + textOf(pieces.filter(({ text, isRow }) => !isRow || !text.includes('BLOCK'))));
  }
  const dir = await judgedRun(cwd, ['up']);
  const { status, result } = await exported(cwd, dir, '--clean', 'out');
  expect([status, result!.sources.refused]).toEqual([0, 0]);
  for (const [path, text] of expected) {
    const found = await readFile(join(cwd, 'out', path), 'utf8');
    expect(found, JSON.stringify({ path, source: await readFile(join(cwd, path), 'utf8') })).toBe(text);
  }
});

const ROWS = `SELECT i AS id, CASE WHEN i % 3 = 0 THEN 'BLOCK ' ELSE 'text ' END || i AS text,
  [i, i + 1] AS numbers, {'a': i / 2, 'b': DATE '2026-01-01'} AS nested FROM range(1, 8) t(i)`;

it('rows of a Parquet file keep their values and types; annotated ones have a further column', async () => {
  const cwd = await temporaryFolder();
  const [source, clean, annotated] = ['a', 'clean', 'annotated'].map((name) => join(cwd, `${name}.parquet`));
  await duckdb(`COPY (${ROWS}) TO '${source}' (FORMAT parquet)`, 'SELECT 1');
  const dir = await judgedRun(cwd, ['a.parquet']);
  const flags = ['--clean', 'clean.parquet', '--annotate', 'annotated.parquet'];
  const { status, result } = await exported(cwd, dir, ...flags);
  expect([status, result!.rows, result!.by_reason]).toEqual([0, { kept: 5, rejected: 2 }, { block: 2 }]);
  expect(await duckdb(`SELECT * FROM '${clean}'`)).toEqual(
    await duckdb(`SELECT * FROM (${ROWS}) WHERE id % 3 <> 0`),
  );
  expect(await duckdb(`DESCRIBE SELECT * FROM '${clean}'`)).toEqual(
    await duckdb(`DESCRIBE SELECT * FROM '${source}'`),
  );
  const rejected = await jsonLines<{ row: number; line: null }>(join(cwd, 'clean.rejected.jsonl'));
  expect(rejected).toMatchObject([3, 6].map((row) => ({ row, line: null })));
  const said = await duckdb(`SELECT id, moderation->>'decision' AS said FROM '${annotated}' WHERE id < 4`);
  expect(said.map((row) => Object.values(row).join(' '))).toEqual(['1 allow', '2 allow', '3 block']);
  const taken = await exported(cwd, dir, '--annotate', 'x.parquet', '--annotate-key', 'Nested');
  expect([taken.status, taken.stderr]).toEqual([2, expect.stringContaining('--annotate-key')]);
});

it('nothing is exported of a Parquet file that is not what the run read', async () => {
  const cwd = await temporaryFolder();
  const source = join(cwd, 'a.parquet');
  await duckdb(`COPY (${ROWS}) TO '${source}' (FORMAT parquet)`, 'SELECT 1');
  const dir = await judgedRun(cwd, ['a.parquet']);
  const other = `SELECT * REPLACE (id + 1 AS id) FROM (${ROWS})`;
  await duckdb(`COPY (${other}) TO '${source}' (FORMAT parquet)`, 'SELECT 1');
  const changed = await exported(cwd, dir, '--clean', 'clean.parquet');
  expect([changed.status, changed.result!.by_reason]).toEqual([5, { source_changed: 7 }]);
  await writeFile(source, 'no table');
  expect((await exported(cwd, dir, '--clean', 'other.parquet')).status).toBe(5);
});
