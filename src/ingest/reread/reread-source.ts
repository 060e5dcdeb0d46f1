import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { SourceConfig } from '../../config/run-config.ts';
import type { Item } from '../../domain/item.ts';
import { CsvReader } from '../../formats/csv/csv-reader.ts';
import { encodingByMark, UTF8_BOM } from '../../formats/encoding/decoder.ts';
import { type RecordReader, recordBytesLimit, type SourceRecord } from '../../formats/record.ts';
import type { SourceSnapshot } from '../sources/sources-file.ts';
import { examine, readerFor } from '../recognise/examine.ts';
import type { RecordLayout } from '../recognise/recognise-layout.ts';
import { fileBytes, matchesSnapshot } from '../sources/file-bytes.ts';
import { locateSource } from '../sources/file-place.ts';
import { configuredEncoding, idColumnNames, isNamedFile } from '../recognise/source-options.ts';
import { OpenSource, type SourceHead } from '../sources/open-source.ts';
import { type ParquetReading, readParquet } from '../sources/parquet-rows.ts';
import { readRecords } from '../sources/read-records.ts';
import type { RecordOptions } from '../../formats/transcripts/draft-record.ts';
import { ItemMaker } from '../items/item-maker.ts';
import { ByteWindow } from '../../formats/byte-window.ts';

/** A record of a reread source, and its items. Their seqs count from 0 in the source. */
export interface RereadRow {
  readonly record: SourceRecord;
  readonly items: readonly Item[];
}

/** Records of a reread file. */
export interface RereadRecords {
  readonly layout: RecordLayout;
  /** Null for a Parquet file, whose rows have no bytes of their own. */
  readonly reader: RecordReader | null;
  readonly options: RecordOptions;
}

interface OpenedSource {
  readonly file: OpenSource;
  readonly head: SourceHead;
  readonly textWindow: TextWindow;
  readonly sha256: () => string;
  readonly records: RereadRecords | null;
  readonly isContainer: boolean;
  readonly maker: ItemMaker;
  readonly reading: ParquetReading;
  readonly signal: AbortSignal;
}

/**
 * A source that is reread after its run, with the bytes of its records. Compare `sha256` to detect a change. The same
 * file gives the items of the run.
 */
export class RereadSource {
  /** How its records are read; null for a file that is one item. */
  readonly records: RereadRecords | null;
  /** Its text, by the offsets of its records' spans. */
  readonly textWindow: TextWindow;
  readonly #opened: OpenedSource;

  private constructor(opened: OpenedSource) {
    this.records = opened.records;
    this.textWindow = opened.textWindow;
    this.#opened = opened;
  }

  /** Rejects as `OpenSource.open` and `OpenSource.head` do. The caller closes it. */
  static async open(
    source: SourceSnapshot,
    config: SourceConfig,
    { itemBytes, signal }: { readonly itemBytes: number; readonly signal: AbortSignal },
  ): Promise<RereadSource> {
    const recordBytes = recordBytesLimit(itemBytes);
    // After a bad row, the next one may be read from bytes up to the limit behind it.
    const textWindow = new TextWindow(2 * recordBytes);
    const hash = createHash('sha256');
    const file = await OpenSource.open(locateSource(source), signal, {
      onStored: (piece) => hash.update(piece),
      onText: (text) => textWindow.append(text),
    });
    try {
      const isNamed = isNamedFile(source, config);
      const head = await file.head(configuredEncoding(config, isNamed));
      const examined = await examine({
        file,
        head,
        config,
        isNamed,
        path: source.absolute,
        itemBytes,
        signal,
      });
      const records =
        examined.kind === 'records'
          ? {
              layout: examined.layout,
              options: examined.options,
              reader: examined.layout.kind === 'parquet' ? null : readerFor(examined.layout, recordBytes),
            }
          : null;
      const maker = new ItemMaker({
        source,
        idNames: idColumnNames(config, isNamed),
        firstSeq: 0,
        itemBytes,
        replay: config.asStream,
      }).seekIn(head);
      const sha256 = (): string => hash.digest('hex');
      const reading = { config, itemBytes, signal };
      const isContainer = examined.kind === 'container';
      return new RereadSource({
        file,
        head,
        textWindow,
        sha256,
        records,
        isContainer,
        maker,
        reading,
        signal,
      });
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Whether it contains other files. */
  get isContainer(): boolean {
    return this.#opened.isContainer;
  }

  /** Whether it is stored compressed. */
  get isCompressed(): boolean {
    return this.#opened.file.isCompressed;
  }

  /** Its byte order mark, in UTF-8; empty if it has none. */
  get mark(): Buffer {
    return encodingByMark(this.#opened.head.raw) === null ? Buffer.alloc(0) : UTF8_BOM;
  }

  /** Whether it is stored as UTF-8. */
  get isUtf8(): boolean {
    return this.#opened.head.isUtf8;
  }

  /**
   * Offset in the text where the rows of a table begin; 0 for other layouts; null if the header was not read
   * completely.
   */
  get bodyStart(): number | null {
    const reader = this.records?.reader;
    return reader instanceof CsvReader ? reader.bodyStart : 0;
  }

  /** The records in batches. Throws as `readRecords` or `readParquet` does. Must be read only once. */
  async *rows({ reader, options }: RereadRecords): AsyncGenerator<readonly RereadRow[], void> {
    const { file, head, maker, reading } = this.#opened;
    const found = reader === null ? readParquet(file, reading) : readRecords(file, head, reader);
    for await (const batch of found) {
      yield batch.map((record) => {
        const items: Item[] = [];
        maker.add(record, options, items);
        return { record, items };
      });
    }
    // Rows of a Parquet file are read out of order; its hash covers the bytes in order.
    if (reader === null) await file.hashRest(null);
  }

  /** SHA-256 of the file as stored, in hex, once all rows were read. Must be called only once. */
  sha256(): string {
    return this.#opened.sha256();
  }

  /** Whether the file matches its snapshot, even after it was read. */
  matchesSnapshot(source: SourceSnapshot): boolean {
    const { file } = this.#opened;
    return matchesSnapshot(file.opened, source) && file.matchesSnapshot(source);
  }

  /** Whether the file is unchanged since it was opened, judging by its size and times. */
  stayedAsOpened(): boolean {
    const { file } = this.#opened;
    return file.matchesSnapshot(file.opened);
  }

  /** Its open file with the file size, to copy a Parquet table. */
  async table(): Promise<{ readonly handle: FileHandle; readonly bytes: number }> {
    const { handle, opened } = this.#opened.file;
    return { handle: await handle.descriptor(), bytes: opened.bytes };
  }

  /** The bytes of the file as stored, from its beginning. */
  stored(): AsyncGenerator<Buffer, void> {
    const { file, signal } = this.#opened;
    return fileBytes(file.handle, file.opened.bytes, signal);
  }

  async close(): Promise<void> {
    await this.#opened.file.close();
  }
}

/**
 * The text of a file as UTF-8, in which records are located by their spans. Takes the text as it is read, and returns
 * parts of it in order.
 */
class TextWindow {
  readonly #maxBytes: number;
  readonly #window = new ByteWindow();
  /** Offset up to which the text was returned. */
  #taken = 0;

  /** Buffers at most `maxBytes` that were not requested. */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  append(text: Buffer): void {
    this.#window.append(text);
    this.#window.dropBefore(this.#window.end - this.#maxBytes);
  }

  /** The text from the last requested offset up to `to`; null if a part of it is no longer buffered. */
  take(to: number): Buffer | null {
    const from = this.#taken;
    this.#taken = to;
    const isBuffered = from === to || (from >= this.#window.start && to <= this.#window.end);
    const stretch = isBuffered ? this.#window.slice(from, to) : null;
    this.#window.dropBefore(to);
    return stretch;
  }

  /** The text from the last requested offset to the end of the file; null as in `take`. */
  rest(): Buffer | null {
    return this.take(Math.max(this.#taken, this.#window.end));
  }
}
