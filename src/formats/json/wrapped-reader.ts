import { itemError } from '../../domain/item-error.ts';
import { plural } from '../../domain/plural.ts';
import {
  badRecord,
  isFields,
  type Fields,
  type RecordBatch,
  type RecordReader,
  type SourceRecord,
} from '../record.ts';
import { JsonReader } from './json-reader.ts';
import { jsonRecord } from './json-record.ts';

/** Where the array of records begins in an object around it. */
export interface WrappedArray {
  /** Offset of its bracket. */
  readonly start: number;
  /** 1-based line of that. */
  readonly line: number;
}

/** Words: what is around the records and has none is a name, a version or the like. */
const WORDS = /\S\s+\S/;

/**
 * Reads an object that is there for the sake of one array: the array's elements are the records. What else the object
 * holds is a last record if there are words in it, or if it cannot be read. Holds what the reader of an array holds, and
 * up to `limit` bytes of what is around it.
 */
export class WrappedReader implements RecordReader {
  readonly again = null;
  readonly #array: WrappedArray;
  readonly #wordsCount: boolean;
  readonly #limit: number;
  readonly #reader: JsonReader;
  /** The object, with an empty array in the place of the one that is read. */
  readonly #around: Buffer[] = [];
  #aroundBytes = 0;
  #end = 0;
  #isBehind = false;

  /** `wordsCount`: whether words around the array are a record; else they are passed over like columns not asked for. */
  constructor(array: WrappedArray, wordsCount: boolean, limit: number) {
    this.#array = array;
    this.#wordsCount = wordsCount;
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
    if (!this.#isBehind) this.#keep(Buffer.from(outside.isNext ? '[],' : '[]'));
    this.#isBehind = true;
    this.#keep(chunk.subarray(Math.max(0, this.#array.start + outside.from - from)));
  }

  *end(): Generator<RecordBatch, void> {
    yield* this.#reader.end();
    const record = this.#record();
    if (record !== null) yield [record];
  }

  #keep(bytes: Buffer): void {
    this.#aroundBytes += bytes.length;
    if (this.#aroundBytes > this.#limit) this.#around.length = 0;
    else if (bytes.length > 0) this.#around.push(Buffer.from(bytes));
  }

  /** What is around the array; null when that is of no concern. */
  #record(): SourceRecord | null {
    const row = this.#reader.rows + 1;
    const bytes = this.#aroundBytes;
    if (bytes > this.#limit) {
      const message = `what is around the records has ${bytes} bytes of at most ${this.#limit}`;
      return badRecord(row, 1, itemError('ITEM_TOO_LARGE', message));
    }
    const record = jsonRecord(Buffer.concat(this.#around), row, 1);
    if (record.error === null) {
      const { content } = record;
      return this.#wordsCount && isFields(content) && hasWords(content) ? record : null;
    }
    const message = `what is around the records is not valid JSON: ${bytes} ${plural(bytes, 'byte was', 'bytes were')} not read`;
    return badRecord(row, 1, itemError('MALFORMED_ROW', message));
  }
}

function hasWords(fields: Fields): boolean {
  const left: unknown[] = fields.names().map((_, position) => fields.at(position));
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === 'string' && WORDS.test(value)) return true;
    if (typeof value === 'object' && value !== null)
      for (const inner of Object.values(value)) left.push(inner);
  }
  return false;
}
