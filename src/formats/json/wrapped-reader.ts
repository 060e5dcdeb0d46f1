import { itemError } from '../../domain/item-error.ts';
import { plural } from '../../domain/text/plural.ts';
import { badRecord, type RecordBatch, type RecordReader, type SourceRecord } from '../record.ts';
import { JsonReader } from './json-reader.ts';
import { jsonRecord } from './json-record.ts';

/** Where the array of records begins in an object around it. */
export interface WrappedArray {
  /** Offset of its bracket. */
  readonly start: number;
  /** 1-based line of that. */
  readonly line: number;
}

/**
 * Reads an object that is there for the sake of one array: the array's elements are the records. What else the object
 * holds is a last record. Holds what the reader of an array holds, and
 * up to `limit` bytes of what is around it.
 */
export class WrappedReader implements RecordReader {
  readonly rereadFrom = null;
  readonly #array: WrappedArray;
  readonly #limit: number;
  readonly #reader: JsonReader;
  /** The object, with null in the place of the array that is read. */
  readonly #around: Buffer[] = [];
  #aroundBytes = 0;
  #end = 0;
  #isBehind = false;

  constructor(array: WrappedArray, limit: number) {
    this.#array = array;
    this.#limit = limit;
    this.#reader = new JsonReader('member', limit, array.line);
  }

  *push(chunk: Buffer): Generator<RecordBatch, void> {
    const from = this.#end;
    this.#end += chunk.length;
    const before = Math.max(0, Math.min(this.#array.start - from, chunk.length));
    this.#keep(chunk.subarray(0, before));
    if (before === chunk.length) return;
    if (!this.#isBehind) yield* this.#reader.push(chunk.subarray(before));
    const { outside } = this.#reader;
    if (outside === null) return;
    if (!this.#isBehind) this.#keep(Buffer.from(outside.isNext ? 'null,' : 'null'));
    this.#isBehind = true;
    this.#keep(chunk.subarray(Math.max(0, this.#array.start + outside.from - from)));
  }

  *end(): Generator<RecordBatch, void> {
    yield* this.#reader.end();
    yield [this.#record()];
  }

  #keep(bytes: Buffer): void {
    this.#aroundBytes += bytes.length;
    if (this.#aroundBytes > this.#limit) this.#around.length = 0;
    else if (bytes.length > 0) this.#around.push(Buffer.from(bytes));
  }

  /** What is around the array. */
  #record(): SourceRecord {
    const row = this.#reader.rows + 1;
    const bytes = this.#aroundBytes;
    if (bytes > this.#limit) {
      const message = `what is around the records has ${bytes} bytes of at most ${this.#limit}`;
      return badRecord(row, 1, itemError('ITEM_TOO_LARGE', message));
    }
    const record = jsonRecord(Buffer.concat(this.#around), row, 1);
    if (record.error === null) return { ...record, isAround: true };
    const message = `what is around the records is not valid JSON: ${bytes} ${plural(bytes, 'byte was', 'bytes were')} not read`;
    return badRecord(row, 1, itemError('MALFORMED_ROW', message));
  }
}
