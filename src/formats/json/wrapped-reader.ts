import { itemError } from '../../domain/item-error.ts';
import { badRecord, type RecordBatch, type RecordReader, type SourceRecord } from '../record.ts';
import { JsonReader } from './json-reader.ts';
import { parseJsonRecord } from './json-record.ts';

/** Start of the array of records in the wrapper object. */
export interface WrappedArray {
  /** Offset of its bracket. */
  readonly start: number;
  /** 1-based line of the bracket. */
  readonly line: number;
}

/**
 * Reads an object that wraps an array of records. The rest of the object is one last record, unless the array is
 * malformed; then nothing after it is read. Buffers as much as the array reader, and up to `limit` bytes of the rest.
 */
export class WrappedReader implements RecordReader {
  readonly rereadFrom = null;
  readonly #array: WrappedArray;
  readonly #limit: number;
  readonly #reader: JsonReader;
  /** The wrapper object, with null in place of the array. */
  readonly #wrapper: Buffer[] = [];
  #wrapperBytes = 0;
  /** Offset in the file after the last piece. */
  #end = 0;

  constructor(array: WrappedArray, limit: number) {
    this.#array = array;
    this.#limit = limit;
    this.#reader = new JsonReader('member', limit, array);
  }

  *push(chunk: Buffer): Generator<RecordBatch, void> {
    const from = this.#end;
    this.#end += chunk.length;
    const before = Math.max(0, Math.min(this.#array.start - from, chunk.length));
    this.#keep(chunk.subarray(0, before));
    if (before === chunk.length) return;
    const isPastArray = this.#reader.arrayEnd !== null;
    if (!isPastArray) yield* this.#reader.push(chunk.subarray(before));
    const { arrayEnd } = this.#reader;
    if (arrayEnd === null) return;
    if (!isPastArray) this.#keep(Buffer.from('null'));
    this.#keep(chunk.subarray(Math.max(0, this.#array.start + arrayEnd - from)));
  }

  *end(): Generator<RecordBatch, void> {
    yield* this.#reader.end();
    if (this.#reader.arrayEnd !== null) yield [this.#wrapperRecord()];
  }

  #keep(bytes: Buffer): void {
    this.#wrapperBytes += bytes.length;
    if (this.#wrapperBytes > this.#limit) this.#wrapper.length = 0;
    else if (bytes.length > 0) this.#wrapper.push(Buffer.from(bytes));
  }

  #wrapperRecord(): SourceRecord {
    const row = this.#reader.rows + 1;
    const bytes = this.#wrapperBytes;
    if (bytes > this.#limit) {
      const message = `the object around the records has ${bytes} bytes of at most ${this.#limit}`;
      return badRecord(row, 1, itemError('ITEM_TOO_LARGE', message));
    }
    const record = parseJsonRecord(Buffer.concat(this.#wrapper), row, 1);
    if (record.error === null) return { ...record, isWrapper: true };
    const message = 'the object around the records is not valid JSON';
    return badRecord(row, 1, itemError('MALFORMED_ROW', message));
  }
}
