import type { SourceConfig } from '../../config/run-config.ts';
import { Expansion } from '../../formats/parquet/expansion.ts';
import { readFooter } from '../../formats/parquet/footer.ts';
import { ParquetProblem } from '../../formats/parquet/parquet-problem.ts';
import { columnNames, readRows } from '../../formats/parquet/parquet-rows.ts';
import { recordBytesLimit, type RecordBatch, type SourceRecord } from '../../formats/record.ts';
import { ID_NAMES } from '../../formats/transcripts/columns.ts';
import type { OpenSource } from './open-source.ts';
import { SAMPLE_BYTES, SAMPLE_RECORDS } from './sample-records.ts';

export interface ParquetReading {
  readonly config: Pick<SourceConfig, 'textColumns' | 'idColumn'>;
  /** Max size of a text item in UTF-8 bytes. */
  readonly itemBytes: number;
  readonly signal: AbortSignal;
  /** Called with the number of bytes of the file read so far. */
  readonly onBytes?: ((bytesReadSoFar: number) => void) | undefined;
  /** The first row that is wanted; default: 1. Rows of its row group before it are read as well. */
  readonly fromRow?: number | undefined;
}

type OpenFile = Pick<OpenSource, 'handle' | 'stats'>;

/**
 * The rows of an open Parquet file. Reads only through its descriptor, and no further than its size when it was opened.
 * Throws ParquetProblem after the rows that could be read.
 */
export async function* readParquet(
  file: OpenFile,
  reading: ParquetReading,
): AsyncGenerator<RecordBatch, void> {
  const { handle, stats } = file;
  const { config, itemBytes, signal, onBytes, fromRow } = reading;
  const footer = await readFooter(handle, stats.size);
  let bytesRead = 0;
  yield* readRows(footer, {
    ...{ handle, signal },
    expansion: new Expansion(stats.size),
    onBytes: (bytes) => onBytes?.((bytesRead += bytes)),
    wanted: [
      ...(config.textColumns ?? []),
      ...(config.idColumn === null ? [] : [config.idColumn]),
      ...ID_NAMES,
    ],
    recordBytes: recordBytesLimit(itemBytes),
    fromRow,
  });
}

/**
 * The first rows of a Parquet file and the names of its columns, nested ones by path. Throws ParquetProblem only if its
 * metadata cannot be read.
 */
export async function sampleParquet(
  file: OpenFile,
  reading: ParquetReading,
): Promise<{ readonly records: readonly SourceRecord[]; readonly columns: readonly string[] }> {
  const { schema } = await readFooter(file.handle, file.stats.size);
  const records: SourceRecord[] = [];
  let bytesRead = 0;
  const isEnough = (): boolean => records.length >= SAMPLE_RECORDS || bytesRead >= SAMPLE_BYTES;
  try {
    for await (const batch of readParquet(file, { ...reading, onBytes: (bytes) => (bytesRead = bytes) })) {
      records.push(...batch);
      if (isEnough()) break;
    }
  } catch (error) {
    if (!(error instanceof ParquetProblem)) throw error;
  }
  return { records, columns: columnNames(schema.columns, schema.leaves) };
}
