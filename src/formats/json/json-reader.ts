import { itemError } from '../../domain/item-error.ts';
import { plural } from '../../domain/text/plural.ts';
import { ByteWindow } from '../byte-window.ts';
import { BATCH_BYTES, badRecord, type RecordBatch, type RecordReader, type SourceRecord } from '../record.ts';
import { BracketStack } from './bracket-stack.ts';
import { jsonRecord } from './json-record.ts';

const LF = 0x0a;
const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Bytes that may be rescanned after broken values, in addition to four times the bytes before: keeps reading linear. */
const MAX_RESCAN_BYTES = 8 * 1024 * 1024;

/** Start of the value being scanned. */
interface OpenValue {
  readonly start: number;
  readonly line: number;
  readonly opener: number;
  /** Bytes before it on its line. */
  readonly column: number;
}

/** Where to resume if the value turns out to be broken. */
interface Restart {
  readonly offset: number;
  readonly line: number;
  readonly column: number;
}

/**
 * Reads the values of a JSON array, or a sequence of JSON values, as one record each. Buffers at most one value (up to
 * `limit` bytes) and one piece of the file.
 *
 * The reader only finds the start and end of values; a value that is not valid JSON is one bad record. If a bracket or
 * quote is missing, so that a value seems not to end, reading resumes where the next value seems to start: at an object
 * inside an object that has no name before it, or at the first later line that starts with the value's own opening
 * bracket and is not indented further. After too much rescanning, such a line ends the value immediately. A bracket that
 * closes the array too early is a bad record of its own.
 */
export class JsonReader implements RecordReader {
  readonly rereadFrom = null;
  readonly #limit: number;
  readonly #isArray: boolean;
  readonly #window = new ByteWindow();
  readonly #stack = new BracketStack();
  readonly #isMember: boolean;
  #phase: 'before' | 'between' | 'value' | 'after' | 'outside';
  #at = 0;
  #line = 1;
  #row = 0;
  #lineStart = 0;
  /** Whether only white space was seen on the current line. */
  #lineIsBlank = true;
  #value: OpenValue = { start: 0, line: 1, opener: 0, column: 0 };
  #inString = false;
  #escaped = false;
  /** The last byte outside strings that is not white space. */
  #last = 0;
  /** The value's brackets or quotes do not match. */
  #isBroken = false;
  /** The value exceeds the limit and no restart was found: its bytes are skipped. */
  #isSkipped = false;
  #restart: Restart | null = null;
  #rescanned = 0;
  /** A value that starts before this offset ends at the first line that may start another. */
  #linewiseUntil = 0;
  /** Whether a bracket closed the array, and whether data after it was reported. */
  #isClosed = false;
  #isExcessReported = false;
  #outside: { readonly from: number; readonly isNext: boolean } | null = null;
  /** Offset in the file at which the input starts. */
  readonly #inputStart: number;

  /**
   * `member`: an array that is a member of an object. The input starts at its bracket, which is at `bracket` in the file.
   */
  constructor(
    shape: 'array' | 'values' | 'member',
    limit: number,
    bracket: { readonly start: number; readonly line: number } = { start: 0, line: 1 },
  ) {
    this.#limit = limit;
    this.#line = bracket.line;
    this.#inputStart = bracket.start;
    this.#isArray = shape !== 'values';
    this.#isMember = shape === 'member';
    this.#phase = this.#isArray ? 'before' : 'between';
  }

  /** Number of records returned. */
  get rows(): number {
    return this.#row;
  }

  /** For a member: the offset where the object continues after it, and whether another name follows. Null until known. */
  get outside(): { readonly from: number; readonly isNext: boolean } | null {
    return this.#outside;
  }

  *push(chunk: Buffer): Generator<RecordBatch, void> {
    this.#window.append(chunk);
    yield* this.#read();
  }

  *end(): Generator<RecordBatch, void> {
    while (this.#phase === 'value') {
      const records: SourceRecord[] = [];
      if (this.#stack.depth === 0 && !this.#inString) this.#finish(this.#window.end, records);
      else this.#endInValue(records);
      yield records;
      yield* this.#read();
    }
    if (this.#isArray && this.#phase === 'between' && !this.#isClosed) {
      yield [this.#bad('the array is not closed: the file seems to be truncated', this.#line)];
    }
  }

  *#read(): Generator<RecordBatch, void> {
    let records: SourceRecord[] = [];
    let batchStart = this.#at;
    while (this.#at < this.#window.end) {
      const piece = this.#window.pieceFrom(this.#at);
      this.#scan(piece.length > BATCH_BYTES ? piece.subarray(0, BATCH_BYTES) : piece, records);
      // Going back to an earlier offset ends a batch, too.
      if (this.#at >= batchStart && this.#at - batchStart < BATCH_BYTES) continue;
      if (records.length > 0) yield records;
      records = [];
      batchStart = this.#at;
      this.#window.dropBefore(this.#needed());
    }
    this.#window.dropBefore(this.#needed());
    if (records.length > 0) yield records;
  }

  /** Offset of the first byte to keep in the buffer. */
  #needed(): number {
    return this.#phase === 'value' && !this.#isSkipped ? this.#value.start : this.#at;
  }

  /** Scans the piece, which starts at the current position; stops early if the position changes or a limit is reached. */
  #scan(piece: Buffer, records: SourceRecord[]): void {
    const base = this.#at;
    let bytes = piece;
    for (let index = 0; index < bytes.length; index++) {
      if (this.#phase === 'value' && !this.#isSkipped) {
        const bound = this.#value.start + this.#limit + 1 - base;
        if (index >= bound) {
          this.#at = base + index;
          this.#exceedLimit(records);
          return;
        }
        if (bound < bytes.length) bytes = piece.subarray(0, bound);
      }
      if (this.#inString) {
        index = this.#skipString(bytes, index);
        if (index === bytes.length) break;
      }
      const byte = bytes[index]!;
      this.#at = base + index + 1;
      if (byte === LF) {
        this.#endLine(records);
      } else if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) {
        if (this.#lineIsBlank && byte !== COMMA && this.#beginLine(byte, records)) return;
        if (this.#phase === 'value') this.#insideValue(byte, records);
        else this.#outsideValue(byte, records);
        this.#last = byte;
      }
      // The position was set back, to rescan what follows a broken value.
      if (this.#at !== base + index + 1) return;
    }
    this.#at = base + bytes.length;
  }

  /** Index of the first byte at or after `index` that is outside the current string, or a line break in it. */
  #skipString(bytes: Buffer, index: number): number {
    let at = index;
    for (; at < bytes.length; at++) {
      const byte = bytes[at]!;
      if (byte === LF) return at;
      if (this.#escaped) this.#escaped = false;
      else if (byte === BACKSLASH) this.#escaped = true;
      else if (byte === QUOTE) {
        this.#inString = false;
        return at + 1;
      }
    }
    return at;
  }

  #outsideValue(byte: number, records: SourceRecord[]): void {
    switch (this.#phase) {
      case 'before':
        this.#phase = 'between';
        return;
      case 'between':
        if (byte === COMMA) return;
        if (byte === CLOSE_BRACKET && this.#isArray) this.#closeArray();
        else this.#openValue(byte, records);
        return;
      case 'after':
        this.#afterArray(byte, records);
        return;
      case 'value':
      case 'outside':
    }
  }

  #closeArray(): void {
    this.#phase = 'after';
    this.#isClosed = true;
    this.#isExcessReported = false;
  }

  /** The array was closed too early, or something follows it. */
  #afterArray(byte: number, records: SourceRecord[]): void {
    if (this.#isMember && !this.#isExcessReported) {
      const isNext = this.#last === COMMA;
      if (byte === COMMA && !isNext) return;
      if (byte === CLOSE_BRACE || (isNext && byte === QUOTE)) {
        this.#outside = { from: this.#at - 1, isNext };
        this.#phase = 'outside';
        return;
      }
    }
    const isStructure = [COMMA, QUOTE, OPEN_BRACKET, OPEN_BRACE, CLOSE_BRACKET, CLOSE_BRACE].includes(byte);
    // Anything else starts a value, which will be a bad record itself.
    if (isStructure && !this.#isExcessReported) {
      records.push(this.#bad('a bracket closes the array, but more data follows', this.#line));
      this.#isExcessReported = true;
    }
    if (byte === COMMA || byte === CLOSE_BRACKET || byte === CLOSE_BRACE) return;
    this.#phase = 'between';
    if (byte !== OPEN_BRACKET) this.#openValue(byte, records);
  }

  #openValue(byte: number, records: SourceRecord[]): void {
    const start = this.#at - 1;
    this.#value = { start, line: this.#line, opener: byte, column: start - this.#lineStart };
    this.#phase = 'value';
    this.#stack.clear();
    this.#isBroken = this.#isSkipped = this.#escaped = false;
    this.#restart = null;
    this.#insideValue(byte, records);
  }

  #insideValue(byte: number, records: SourceRecord[]): void {
    switch (byte) {
      case QUOTE:
        this.#inString = true;
        return;
      case OPEN_BRACKET:
        this.#stack.push(CLOSE_BRACKET);
        return;
      case OPEN_BRACE:
        // An object inside an object needs a name before it: this one starts the next value.
        if (this.#last === COMMA && this.#stack.top === CLOSE_BRACE) {
          const offset = this.#at - 1;
          const here = { offset, line: this.#line, column: offset - this.#lineStart };
          // Skipped bytes are no longer buffered.
          this.#restart = this.#isSkipped ? here : (this.#restart ?? here);
          this.#isBroken = true;
          if (this.#goBack('the record is not closed', records)) return;
        }
        this.#stack.push(CLOSE_BRACE);
        return;
      case COMMA:
        if (this.#stack.depth === 0) this.#finish(this.#at - 1, records);
        return;
      case CLOSE_BRACKET:
      case CLOSE_BRACE:
        this.#close(byte, records);
    }
  }

  #close(byte: number, records: SourceRecord[]): void {
    const closed = this.#stack.close(byte);
    if (closed !== 'next') this.#isBroken = true;
    if (closed !== 'none') {
      if (this.#stack.depth === 0) this.#finish(this.#at, records);
      return;
    }
    // The value does not expect this bracket. After a scalar it closes the array; otherwise it is ignored.
    if (byte !== CLOSE_BRACKET || !this.#isArray || this.#stack.depth > 0) return;
    this.#isBroken = false;
    this.#at--;
    this.#finish(this.#at, records);
  }

  #endLine(records: SourceRecord[]): void {
    // JSON has no line breaks inside strings: the string's closing quote is missing.
    if (this.#inString) {
      this.#inString = this.#escaped = false;
      this.#isBroken = true;
    }
    const end = this.#at - 1;
    this.#line++;
    this.#lineStart = this.#at;
    this.#lineIsBlank = true;
    if (this.#phase === 'value' && this.#stack.depth === 0 && !this.#isArray) this.#finish(end, records);
  }

  /** Records where a value may start; true if reading resumes there immediately. */
  #beginLine(byte: number, records: SourceRecord[]): boolean {
    this.#lineIsBlank = false;
    if (this.#phase !== 'value' || this.#stack.depth === 0) return false;
    if (this.#restart !== null && !this.#isSkipped) return false;
    const column = this.#at - 1 - this.#lineStart;
    if (byte !== this.#value.opener || column > this.#value.column) return false;
    this.#restart = { offset: this.#at - 1, line: this.#line, column };
    const isAbandoned = this.#isSkipped || this.#value.start < this.#linewiseUntil;
    return isAbandoned && this.#goBack('the record is not closed', records);
  }

  /** Ends the current value at `end`. */
  #finish(end: number, records: SourceRecord[]): void {
    const { start, line } = this.#value;
    if (this.#isSkipped) {
      const error = itemError(
        'ITEM_TOO_LARGE',
        `the record has ${end - start} bytes of at most ${this.#limit}`,
      );
      records.push(badRecord(++this.#row, line, error));
    } else {
      const span = { start: this.#inputStart + start, end: this.#inputStart + end };
      const record = jsonRecord(this.#window.slice(start, end), this.#row + 1, line, span);
      if (record.error !== null && this.#isBroken && this.#goBack(record.error.message, records)) return;
      this.#row++;
      records.push(record);
    }
    this.#phase = 'between';
    this.#inString = false;
  }

  /** The value has reached the limit. */
  #exceedLimit(records: SourceRecord[]): void {
    if (!this.#goBack(`the record is not closed within ${this.#limit} bytes`, records))
      this.#isSkipped = true;
  }

  /** The file ends inside a value. */
  #endInValue(records: SourceRecord[]): void {
    const what = 'the record is not closed at the end of the file';
    if (!this.#isSkipped && this.#goBack(what, records)) return;
    const bytes = this.#window.end - this.#value.start;
    records.push(
      this.#bad(`${what}: ${bytes} ${plural(bytes, 'byte was', 'bytes were')} not read`, this.#value.line),
    );
    this.#phase = 'after';
  }

  /** Reports the value as bad and goes back to where the next one seems to start; false if there is no such place. */
  #goBack(what: string, records: SourceRecord[]): boolean {
    if (this.#restart === null) return false;
    const { offset, line, column } = this.#restart;
    const bytes = offset - this.#value.start;
    records.push(
      this.#bad(`${what}: ${bytes} ${plural(bytes, 'byte was', 'bytes were')} not read`, this.#value.line),
    );
    this.#rescanned += this.#at - offset;
    if (this.#rescanned > 4 * offset + MAX_RESCAN_BYTES)
      this.#linewiseUntil = Math.max(this.#linewiseUntil, this.#at);
    this.#at = offset;
    this.#line = line;
    this.#lineStart = offset - column;
    this.#lineIsBlank = false;
    this.#inString = this.#escaped = false;
    this.#phase = 'between';
    return true;
  }

  #bad(message: string, line: number): SourceRecord {
    return badRecord(++this.#row, line, itemError('MALFORMED_ROW', message));
  }
}
