import type { SourceConfig } from '../../config/run-config.ts';
import { readRows, type RowOptions } from '../../formats/parquet/parquet-rows.ts';
import { type OpenTable, ParquetProblem } from '../../formats/parquet/table-process.ts';
import { recordBytesLimit, type RecordBatch, type SourceRecord } from '../../formats/record.ts';
import { ID_NAMES } from '../../formats/transcripts/columns.ts';
import type { OpenSource } from './open-source.ts';
import { SAMPLE_BYTES, SAMPLE_RECORDS } from './read-records.ts';

export interface ParquetReading {
  readonly config: Pick<SourceConfig, 'textColumns' | 'idColumn'>;
  /** Max size of a text item in UTF-8 bytes. */
  readonly itemBytes: number;
  readonly signal: AbortSignal;
  /** Called with the number of bytes of the file read so far. */
  readonly onBytes?: ((bytesReadSoFar: number) => void) | undefined;
  /** The first row to read; default: 1. */
  readonly fromRow?: number | undefined;
}

export interface ParquetSample {
  readonly records: readonly SourceRecord[];
  /** Names of the columns, nested ones by path. */
  readonly columns: readonly string[];
  /** Whether these are all records of the file. */
  readonly isWhole: boolean;
}

type OpenFile = Pick<OpenSource, 'handle' | 'opened'>;

/**
 * The rows of an open Parquet file. Reads only through its descriptor, and no further than its size when it was opened.
 * Throws ParquetProblem after the rows that could be read.
 */
export async function* readParquet(
  file: OpenFile,
  reading: ParquetReading,
): AsyncGenerator<RecordBatch, void> {
  const { onBytes, fromRow } = reading;
  yield* readRows(await tableOf(file), {
    ...rowOptions(reading),
    fromRow,
    onRows: (_, share) => onBytes?.(Math.floor(share * file.opened.bytes)),
  });
}

/**
 * The first rows of a Parquet file and its columns. Throws ParquetProblem only if its
 * metadata cannot be read.
 */
export async function sampleParquet(
  file: OpenFile,
  reading: Omit<ParquetReading, 'onBytes' | 'fromRow'>,
): Promise<ParquetSample> {
  const records: SourceRecord[] = [];
  let columns: readonly string[] | null = null;
  let bytesRead = 0;
  let isWhole = false;
  try {
    for await (const batch of readRows(await tableOf(file), {
      ...rowOptions(reading),
      onColumns: (names) => (columns = names),
      onRows: (bytes, share) => {
        bytesRead += bytes;
        isWhole = share === 1;
      },
    })) {
      records.push(...batch);
      if (records.length >= SAMPLE_RECORDS || bytesRead >= SAMPLE_BYTES) break;
    }
  } catch (error) {
    if (!(error instanceof ParquetProblem) || columns === null) throw error;
  }
  return { records, columns: columns ?? [], isWhole };
}

async function tableOf({ handle, opened }: OpenFile): Promise<OpenTable> {
  return { handle: await handle.descriptor(), bytes: opened.bytes };
}

function rowOptions({ config, itemBytes, signal }: ParquetReading): RowOptions {
  return {
    wanted: [
      ...(config.textColumns ?? []),
      ...(config.idColumn === null ? [] : [config.idColumn]),
      ...ID_NAMES,
    ],
    recordBytes: recordBytesLimit(itemBytes),
    signal,
  };
}
