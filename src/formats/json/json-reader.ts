import { itemError } from '../../domain/item-error.ts';
import { ByteWindow } from '../byte-window.ts';
import { BATCH_BYTES, badRecord, type RecordBatch, type RecordReader, type SourceRecord } from '../record.ts';
import { parseJsonRecord } from './json-record.ts';

const LF = 0x0a;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Position of the reader: before the array, between values, in a value, after the array, or done. */
type Phase = 'start' | 'between' | 'value' | 'after' | 'done';

/**
 * Reads each value of a JSON array, or of a sequence of JSON values, as a record, in one pass over the bytes. Buffers
 * at most one value (up to `limit` bytes) and one piece of the file.
 *
 * The reader finds the end of a value by brackets and quotes alone; `JSON.parse` validates it. The first value that is
 * not valid JSON is one bad record, and nothing after it is read, because brackets and quotes can no longer be trusted.
 */
export class JsonReader implements RecordReader {
  readonly rereadFrom = null;
  readonly #shape: 'array' | 'values' | 'member';
  readonly #limit: number;
  readonly #inputStart: number;
  readonly #window = new ByteWindow();
  #phase: Phase;
  #at = 0;
  #line: number;
  #row = 0;
  #valueStart = 0;
  #valueLine = 1;
  /** Open brackets within the value. */
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  /** Whether the value exceeds the limit, so its bytes are no longer buffered. */
  #isTooLarge = false;
  #arrayEnd: number | null = null;

  /**
   * `member` is an array that is a member of an object. The input starts at its bracket, which is at `bracket` in the
   * file, and everything after the array is ignored.
   */
  constructor(
    shape: 'array' | 'values' | 'member',
    limit: number,
    bracket: { readonly start: number; readonly line: number } = { start: 0, line: 1 },
  ) {
    this.#shape = shape;
    this.#limit = limit;
    this.#inputStart = bracket.start;
    this.#line = bracket.line;
    this.#phase = shape === 'values' ? 'between' : 'start';
  }

  /** Number of records returned. */
  get rows(): number {
    return this.#row;
  }

  /** Offset in the input after the bracket that closes the array; null until it is reached. */
  get arrayEnd(): number | null {
    return this.#arrayEnd;
  }

  *push(chunk: Buffer): Generator<RecordBatch, void> {
    for (let from = 0; from < chunk.length && this.#phase !== 'done'; from += BATCH_BYTES) {
      const piece = chunk.subarray(from, from + BATCH_BYTES);
      this.#window.append(piece);
      const records: SourceRecord[] = [];
      this.#scan(piece, records);
      const isInValue = this.#phase === 'value';
      this.#isTooLarge ||= isInValue && this.#at - this.#valueStart > this.#limit;
      this.#window.dropBefore(isInValue && !this.#isTooLarge ? this.#valueStart : this.#at);
      if (records.length > 0) yield records;
    }
  }

  *end(): Generator<RecordBatch, void> {
    const records: SourceRecord[] = [];
    if (this.#phase === 'value') {
      if (this.#depth === 0 && !this.#inString) this.#endValue(this.#at, records);
      else this.#fail('the record is not closed', this.#valueStart, this.#valueLine, records);
    }
    if (this.#phase === 'between' && this.#shape !== 'values') {
      this.#fail('the array is not closed: the file seems to be truncated', this.#at, this.#line, records);
    }
    this.#phase = 'done';
    if (records.length > 0) yield records;
  }

  #scan(piece: Buffer, records: SourceRecord[]): void {
    const base = this.#at;
    for (let index = 0; index < piece.length && this.#phase !== 'done'; index++) {
      if (this.#inString) {
        index = this.#skipString(piece, index);
        this.#at = base + Math.min(index + 1, piece.length);
        if (!this.#inString && this.#depth === 0) this.#endValue(this.#at, records);
        continue;
      }
      const byte = piece[index]!;
      this.#at = base + index + 1;
      if (this.#phase === 'value') this.#readInside(byte, records);
      else if (!isSpace(byte)) this.#readOutside(byte, records);
      if (byte === LF) this.#line++;
    }
  }

  /** Index of the quote that ends the current string, or the length if it continues. */
  #skipString(piece: Buffer, from: number): number {
    for (let index = from; index < piece.length; index++) {
      const byte = piece[index]!;
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) {
        this.#inString = false;
        return index;
      }
    }
    return piece.length;
  }

  #readOutside(byte: number, records: SourceRecord[]): void {
    const offset = this.#at - 1;
    if (this.#phase === 'start') {
      this.#phase = 'between';
    } else if (this.#phase === 'after') {
      this.#fail('more data follows the end of the array', offset, this.#line, records);
    } else if (byte === CLOSE_BRACKET && this.#shape !== 'values') {
      this.#arrayEnd = this.#at;
      this.#phase = this.#shape === 'member' ? 'done' : 'after';
    } else if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) {
      this.#fail('a closing bracket is out of place', offset, this.#line, records);
    } else if (byte !== COMMA) {
      this.#phase = 'value';
      this.#valueStart = offset;
      this.#valueLine = this.#line;
      this.#depth = 0;
      this.#isTooLarge = false;
      this.#readInside(byte, records);
    }
  }

  #readInside(byte: number, records: SourceRecord[]): void {
    const isAtTop = this.#depth === 0;
    if (byte === QUOTE) this.#inString = true;
    else if (byte === OPEN_BRACKET || byte === OPEN_BRACE) this.#depth++;
    else if (isAtTop && (byte === COMMA || isSpace(byte))) this.#endValue(this.#at - 1, records);
    else if (byte === CLOSE_BRACKET || byte === CLOSE_BRACE) {
      if (isAtTop) {
        this.#endValue(this.#at - 1, records);
        // A number or word has no brackets, so this one closes the array.
        if (this.#phase === 'between') this.#readOutside(byte, records);
      } else if (--this.#depth === 0) this.#endValue(this.#at, records);
    }
  }

  #endValue(end: number, records: SourceRecord[]): void {
    this.#phase = 'between';
    const bytes = end - this.#valueStart;
    if (bytes > this.#limit) {
      const message = `the record has ${bytes} bytes of at most ${this.#limit}`;
      records.push(badRecord(++this.#row, this.#valueLine, itemError('ITEM_TOO_LARGE', message)));
      return;
    }
    const span = { start: this.#inputStart + this.#valueStart, end: this.#inputStart + end };
    const value = this.#window.slice(this.#valueStart, end);
    const record = parseJsonRecord(value, this.#row + 1, this.#valueLine, span);
    if (record.error !== null && record.isBroken === true) {
      this.#fail(record.error.message, this.#valueStart, this.#valueLine, records);
      return;
    }
    this.#row++;
    records.push(record);
  }

  /** Ends the reading with a bad record. */
  #fail(what: string, offset: number, line: number, records: SourceRecord[]): void {
    const message = `${what}; nothing is read from byte ${this.#inputStart + offset} of the file on`;
    records.push(badRecord(++this.#row, line, itemError('MALFORMED_ROW', message)));
    this.#phase = 'done';
  }
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === LF || byte === 0x09 || byte === 0x0d;
}
