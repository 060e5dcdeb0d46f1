import { join } from 'node:path';
import type { BenchContext } from '../harness/bench.ts';
import type { Corpus } from '../processes/sweep.ts';
import { writeCsv } from './csv-file.ts';
import { evenRows, mixedRows } from './rows.ts';
import { readTexts } from './texts.ts';

/** Bytes per row of an even corpus. */
const ROW_BYTES = 300;

const WORDS = 'a river carries boats, wood "and" news past the old mill to towns that wait for it'.split(' ');

/** Writes a CSV file of rows of mixed lengths, `fullRows` at full scale; equal for equal seeds. */
export async function mixedCorpus(fullRows: number, context: BenchContext): Promise<Corpus> {
  const corpus = named('mixed', fullRows, context);
  await writeCsv(corpus.path, corpus.rows, mixedRows(await readTexts(), context.seed), context.signal);
  return corpus;
}

/** Writes a CSV file of rows of 300 bytes, `fullRows` at full scale; equal for equal seeds. */
export async function evenCorpus(fullRows: number, context: BenchContext): Promise<Corpus> {
  const corpus = named('even', fullRows, context);
  const rows = evenRows(await readTexts(), ROW_BYTES, context.seed);
  await writeCsv(corpus.path, corpus.rows, rows, context.signal);
  return corpus;
}

/** Like `evenCorpus`, but made of a few words, so it needs no corpora. */
export async function plainCorpus(fullRows: number, context: BenchContext): Promise<Corpus> {
  const corpus = named('plain', fullRows, context);
  const rows = evenRows(WORDS, ROW_BYTES, context.seed);
  await writeCsv(corpus.path, corpus.rows, rows, context.signal);
  return corpus;
}

function named(kind: string, fullRows: number, context: BenchContext): Corpus {
  const count = context.rows(fullRows);
  return { path: join(context.folder, `${kind}-${count}.csv`), rows: count };
}
