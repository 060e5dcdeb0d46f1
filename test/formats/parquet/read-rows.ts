import { open } from 'node:fs/promises';
import { ParquetProblem } from '../../../src/formats/parquet/table-process.ts';
import { readRows } from '../../../src/formats/parquet/parquet-rows.ts';
import { isFields, type SourceRecord } from '../../../src/formats/record.ts';

export interface RowsRead {
  readonly records: readonly SourceRecord[];
  /** Why reading ended early; null if it did not. */
  readonly problem: ParquetProblem | null;
}

/** All rows of a Parquet file; anything but a ParquetProblem is thrown. */
export async function rowsOf(
  path: string,
  {
    wanted = [],
    recordBytes = 1_000_000,
  }: {
    readonly wanted?: readonly string[];
    readonly recordBytes?: number;
  } = {},
): Promise<RowsRead> {
  const handle = await open(path);
  const records: SourceRecord[] = [];
  try {
    const { size } = await handle.stat();
    const { signal } = new AbortController();
    const options = { signal, wanted, recordBytes };
    for await (const batch of readRows({ handle, bytes: size }, options)) records.push(...batch);
    return { records, problem: null };
  } catch (error) {
    if (!(error instanceof ParquetProblem)) throw error;
    return { records, problem: error };
  } finally {
    await handle.close();
  }
}

/** The values of records by column. */
export function valuesOf(records: readonly SourceRecord[]): Record<string, unknown>[] {
  return records.map(({ content }) => {
    if (!isFields(content)) throw new Error('the record has no values');
    return Object.fromEntries(content.names().map((name, position) => [name, content.at(position)]));
  });
}
