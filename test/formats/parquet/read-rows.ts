import { open } from 'node:fs/promises';
import { ParquetProblem } from '../../../src/formats/parquet/table-process.ts';
import { readRows } from '../../../src/formats/parquet/parquet-rows.ts';
import { isFields, type SourceRecord } from '../../../src/formats/record.ts';

interface RowsRead {
  readonly records: readonly SourceRecord[];
  /** Why reading ended early; null if it did not. */
  readonly problem: ParquetProblem | null;
}

interface Reading {
  readonly wanted?: readonly string[];
  readonly recordBytes?: number;
  readonly signal?: AbortSignal;
  /** Is called once the file is open. */
  readonly opened?: () => Promise<unknown>;
}

/** The rows of a Parquet file, batch by batch. */
export async function* batchesOf(
  path: string,
  { wanted = [], recordBytes = 1_000_000, signal = new AbortController().signal, opened }: Reading = {},
): AsyncGenerator<readonly SourceRecord[]> {
  const handle = await open(path);
  try {
    const { size: bytes } = await handle.stat();
    await opened?.();
    yield* readRows({ handle, bytes }, { signal, wanted, recordBytes });
  } finally {
    await handle.close();
  }
}

/** All rows of a Parquet file; anything but a ParquetProblem is thrown. */
export async function rowsOf(path: string, reading: Reading = {}): Promise<RowsRead> {
  const records: SourceRecord[] = [];
  try {
    for await (const batch of batchesOf(path, reading)) records.push(...batch);
    return { records, problem: null };
  } catch (error) {
    if (!(error instanceof ParquetProblem)) throw error;
    return { records, problem: error };
  }
}

/** The values of records by column. */
export function valuesOf(records: readonly SourceRecord[]): Record<string, unknown>[] {
  return records.map(({ content }) => {
    if (!isFields(content)) throw new Error('the record has no values');
    return Object.fromEntries(content.names().map((name, position) => [name, content.at(position)]));
  });
}
