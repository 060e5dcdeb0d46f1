import type { z } from 'zod';
import { itemError } from '../../domain/item-error.ts';
import { TableHeader } from '../csv/table-row.ts';
import { BATCH_BYTES, badRecord, type RecordBatch, type SourceRecord } from '../record.ts';
import { batch, lineBytes, opened, type ReadRequest, type ReadRow } from './child/messages.ts';
import { lentProcess, type OpenTable } from './lend-process.ts';
import { columnOf, ParquetRow } from './parquet-row.ts';
import { damaged, tooLarge } from './parquet-problem.ts';
import { ReaderCrashed, TextsNotUtf8 } from './table-process.ts';

/** A file may give this much, and beyond it this multiple of its size, like the DEFLATE of a gzip file. */
const FREE_BYTES = 1024 * 1024 * 1024;
const MAX_FACTOR = 1000;

/** What a row costs besides its values: a file can repeat a row in no bytes at all. */
const ROW_BYTES = 64;

/** Rows that are decoded at once after many took too much memory: together they are within its limit. */
const FEW_ROWS = 16;

/** Names of columns are at most as long as the metadata. */
const MAX_OPENED_BYTES = 64 * 1024 * 1024;

export interface RowOptions {
  /** Columns, by name or path, that are read although they hold no text. */
  readonly wanted: readonly string[];
  /** Max bytes of one row. A larger row is a bad record. */
  readonly recordBytes: number;
  /** WHATWG label of the encoding of bytes that are not UTF-8; null: not known. */
  readonly encoding: string | null;
  readonly signal: AbortSignal;
  /** The first row that is wanted; default: 1. */
  readonly fromRow?: number | undefined;
  /** Called with the names of the columns, and the paths of the texts inside them, before the first row. */
  readonly onColumns?: (names: readonly string[]) => void;
  /** Called with each batch: its size in bytes, and how much of the file was read (0 … 1). */
  readonly onRows?: (bytes: number, share: number) => void;
}

/**
 * The rows of a file in batches, as records that begin on no line. They are read in a process of its own; this one holds
 * two batches. Throws ParquetProblem where the file cannot be read on, after the rows before.
 */
export async function* readRows(file: OpenTable, options: RowOptions): AsyncGenerator<RecordBatch, void> {
  const rows = new RowsOfFile(file, options);
  for (let way: ReadingWay = { textsAreBytes: false, range: null }; ;) {
    try {
      yield* rows.read(way);
      return;
    } catch (error) {
      if (error instanceof TextsNotUtf8 && !way.textsAreBytes) way = { ...way, textsAreBytes: true };
      else if (error instanceof ReaderCrashed && way.range === null) way = { ...way, range: FEW_ROWS };
      else throw error;
    }
  }
}

/** How the rest of a file is read: as usual, or after DuckDB could not. */
interface ReadingWay extends Pick<ReadRequest, 'range'> {
  readonly textsAreBytes: boolean;
}

class RowsOfFile {
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

  async *read({ textsAreBytes, range }: ReadingWay): AsyncGenerator<RecordBatch, void> {
    const { signal, wanted, recordBytes, encoding } = this.#options;
    const lent = lentProcess(this.#file, { textsAreBytes, signal });
    let coming: Promise<z.infer<typeof batch>> | null = null;
    try {
      const process = (await lent.next()).value!;
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
          ...{ encoding, range, bytesAreTexts: textsAreBytes },
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
        // Read on while these are taken.
        coming = ask();
        coming.catch(() => {});
        yield records;
        answer = await coming;
        coming = null;
      }
    } finally {
      // The process answers one request at a time.
      await coming?.catch(() => {});
      await lent.return();
    }
  }

  #record([number, size, values, undecoded]: ReadRow, header: TableHeader): SourceRecord {
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
    return { row, line: null, content: new ParquetRow(header, values, new Set(undecoded)), error: null };
  }
}
