import type { z } from 'zod';
import { itemError } from '../../domain/item-error.ts';
import { TableHeader } from '../csv/table-row.ts';
import { BATCH_BYTES, badRecord, type RecordBatch, type SourceRecord } from '../record.ts';
import { batch, lineBytes, opened, type ReadRequest, type ReadRow } from './child/messages.ts';
import { columnOf, ParquetRow } from './parquet-row.ts';
import { damaged, type OpenTable, ReaderCrashedError, TableProcess, tooLarge } from './table-process.ts';

/**
 * A file may expand to this size, and beyond that to this multiple of its own size, like the DEFLATE of a gzip file.
 */
const FREE_BYTES = 1024 * 1024 * 1024;
const MAX_FACTOR = 1000;

/** Cost of a row in addition to its values, because a file can repeat a row in no bytes at all. */
const ROW_BYTES = 64;

/** Number of rows to decode at a time after the reader crashed, few enough for their values to fit into its memory. */
const FEW_ROWS = 16;

/** Maximum bytes of the names of all columns. */
const MAX_OPENED_BYTES = 64 * 1024 * 1024;

export interface RowOptions {
  /** Columns, by name or path, to read even if they contain no text. */
  readonly wanted: readonly string[];
  /** Maximum bytes of one row. A larger row is a bad record. */
  readonly recordBytes: number;
  readonly signal: AbortSignal;
  /** The first row to return; default: 1. */
  readonly fromRow?: number | undefined;
  /** Called with the names of the columns, and the paths of text inside them, before the first row. */
  readonly onColumns?: (names: readonly string[]) => void;
  /** Called with the size of each batch in bytes, and the fraction of the file read so far. */
  readonly onRows?: (bytes: number, share: number) => void;
}

/**
 * Yields the rows of a file in batches, as records without lines. A separate process reads them; this one holds two
 * batches. Throws ParquetProblem after the rows before it if the rest of the file cannot be read.
 */
export async function* readRows(file: OpenTable, options: RowOptions): AsyncGenerator<RecordBatch, void> {
  const rows = new RowReader(file, options);
  try {
    yield* rows.read(null);
  } catch (error) {
    if (!(error instanceof ReaderCrashedError)) throw error;
    yield* rows.read(FEW_ROWS);
  }
}

class RowReader {
  readonly #file: OpenTable;
  readonly #options: RowOptions;
  #next: number;
  #bytesLeft: number;

  constructor(file: OpenTable, options: RowOptions) {
    this.#file = file;
    this.#options = options;
    this.#next = (options.fromRow ?? 1) - 1;
    this.#bytesLeft = FREE_BYTES + file.bytes * MAX_FACTOR;
  }

  /** Reads from the next row on. `range` is the maximum number of rows to decode at a time, or null. */
  async *read(range: ReadRequest['range']): AsyncGenerator<RecordBatch, void> {
    const { signal, wanted, recordBytes } = this.#options;
    const process = new TableProcess([this.#file.handle.fd]);
    let coming: Promise<z.infer<typeof batch>> | null = null;
    try {
      const { columns, nested, holdsText, rows } = await process.ask({ op: 'open' }, opened, {
        ...{ maxBytes: MAX_OPENED_BYTES, signal },
      });
      this.#options.onColumns?.([...columns, ...nested]);
      const header = new TableHeader(columns);
      const read = new Set(wanted.map((name) => columnOf(header, name)));
      const answerBytes = { maxBytes: lineBytes(recordBytes) + 8 * BATCH_BYTES, signal };
      let answer = await process.ask(
        {
          op: 'read',
          columns: columns.map((_, index) => index).filter((index) => read.has(index) || holdsText[index]),
          from: this.#next,
          rowBytes: recordBytes,
          range,
        },
        batch,
        answerBytes,
      );
      const ask = () => process.ask({ op: 'next' }, batch, answerBytes);
      for (;;) {
        const records = answer.rows.map((row) => this.#record(row, header));
        const bytes = answer.rows.reduce((sum, [, size]) => sum + size, 0);
        this.#options.onRows?.(bytes, rows === 0 ? 1 : this.#next / rows);
        if (answer.isEnd) {
          if (records.length > 0) yield records;
          return;
        }
        // The process continues reading while these rows are processed.
        coming = ask();
        coming.catch(() => {});
        yield records;
        answer = await coming;
        coming = null;
      }
    } finally {
      await process.kill();
    }
  }

  #record([number, size, values]: ReadRow, header: TableHeader): SourceRecord {
    if (number !== this.#next) throw damaged('its rows are not in order');
    this.#next++;
    this.#bytesLeft -= size + ROW_BYTES;
    if (this.#bytesLeft < 0) {
      throw tooLarge(
        `the Parquet file expands to more than ${MAX_FACTOR} times its size; the rest is not read`,
      );
    }
    const row = this.#next;
    if (values === null) {
      const { recordBytes } = this.#options;
      return badRecord(
        row,
        null,
        itemError('ITEM_TOO_LARGE', `the row has ${size} bytes of at most ${recordBytes}`),
      );
    }
    return { row, line: null, content: new ParquetRow(header, values), error: null };
  }
}
