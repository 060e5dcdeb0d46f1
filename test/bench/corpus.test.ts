import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { writeCsv } from '../../bench/corpus/csv-file.ts';
import { evenRows, mixedRows } from '../../bench/corpus/rows.ts';
import { readTexts } from '../../bench/corpus/texts.ts';
import { temporaryFolder } from '../helpers/cli.ts';

const TEXTS = ['short', 'with "quotes", and\na line break', 'naïve 日本語 🙂🙂🙂 ', 'x'.repeat(500)];
const never = new AbortController().signal;

describe('rows drawn for a bench', () => {
  it('are different ones, and the same for the same seed', () => {
    for (const rows of [
      (seed: number) => mixedRows(TEXTS, seed),
      (seed: number) => evenRows(TEXTS, 300, seed),
    ]) {
      const [one, same, other] = [7, 7, 8].map((seed) => Array.from({ length: 200 }, rows(seed)));
      expect(new Set(one).size).toBe(200);
      expect(same).toEqual(one);
      expect(other).not.toEqual(one);
    }
  });

  it('have exactly the size that was asked for, cut between characters', () => {
    const next = evenRows(TEXTS, 300, 1);
    for (let row = 0; row < 500; row++) {
      const text = next();
      expect(Buffer.byteLength(text)).toBe(300);
      expect(text).not.toContain('\ufffd');
    }
  });

  it('are read again as they were written', async () => {
    const path = join(await temporaryFolder(), 'rows.csv');
    await writeCsv(path, 50, mixedRows(TEXTS, 3), never);
    const rows = mixedRows(TEXTS, 3);
    const expected = Array.from({ length: 50 }, (_, row) => ({ id: `r-${row + 1}`, text: rows() }));
    expect(parse(await readFile(path), { columns: true })).toEqual(expected);
  });
});

describe('the texts that benches draw from', () => {
  it('come from all files of the folder that is named', async () => {
    const folder = await temporaryFolder();
    for (const [index, name] of ['train', 'dev', 'unsafe_unspecified'].entries()) {
      await writeFile(join(folder, `${name}.jsonl.gz`), gzipSync(`{"text":"t${index}","labels":[]}\n`));
    }
    expect(await readTexts({ BENCH_CORPORA: folder })).toEqual(['t0', 't1', 't2']);
  });

  it('are asked for when they are not there', async () => {
    const folder = await temporaryFolder();
    await expect(readTexts({ BENCH_CORPORA: folder })).rejects.toThrow('BENCH_CORPORA');
  });
});
