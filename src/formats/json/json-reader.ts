import { itemError, type ItemError } from '../../domain/item-error.ts';
import { ByteWindow } from '../byte-window.ts';
import { badRecord, type RecordReader, type SourceRecord } from '../record.ts';
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

/** Bytes that may be scanned again after broken values, beyond four times the file: keeps the whole linear. */
const RESCAN_BYTES = 8 * 1024 * 1024;

/** Where the value being scanned begins. */
interface OpenValue {
  readonly start: number;
  readonly line: number;
  readonly opener: number;
  /** Bytes before it on its line. */
  readonly column: number;
}

/** Where reading can go on when a value turns out to have no end. */
interface Restart {
  readonly offset: number;
  readonly line: number;
  readonly column: number;
}

/**
 * Reads the values of a JSON array, or a sequence of JSON values, one record each, without ever holding more than one
 * value (up to `limit` bytes) and one piece of the file.
 *
 * It only finds where values begin and end. A value that is not valid JSON is one bad record. When a bracket or quote
 * is missing, so that a value seems to run on, reading goes on at the first later line that begins as the value's
 * own line does: with the same bracket, and no further in.
 */
export class JsonReader implements RecordReader {
  readonly #limit: number;
  readonly #isArray: boolean;
  readonly #window = new ByteWindow();
  readonly #stack = new BracketStack();
  #phase: 'before' | 'between' | 'value' | 'after' | 'ignored';
  #at = 0;
  #line = 1;
  #row = 0;
  #lineStart = 0;
  /** Whether only white space was seen on the current line. */
  #lineIsBlank = true;
  #value: OpenValue = { start: 0, line: 1, opener: 0, column: 0 };
  #inString = false;
  #escaped = false;
  /** The value's brackets or quotes do not match. */
  #isBroken = false;
  /** The value is settled already; what is left of it is only passed over. */
  #isSettled = false;
  #restart: Restart | null = null;
  #rescanned = 0;

  constructor(shape: 'array' | 'values', limit: number) {
    this.#limit = limit;
    this.#isArray = shape === 'array';
    this.#phase = this.#isArray ? 'before' : 'between';
  }

  push(chunk: Buffer): SourceRecord[] {
    const records: SourceRecord[] = [];
    this.#window.append(chunk);
    for (;;) {
      this.#scan(records);
      if (this.#at < this.#window.end) continue;
      if (this.#phase !== 'value' || this.#isSettled) break;
      if (this.#window.end - this.#value.start <= this.#limit) break;
      this.#settleLong(records);
    }
    const isOpen = this.#phase === 'value' && !this.#isSettled;
    this.#window.dropBefore(isOpen ? this.#value.start : this.#at);
    return records;
  }

  end(): SourceRecord[] {
    const records: SourceRecord[] = [];
    for (;;) {
      while (this.#at < this.#window.end) this.#scan(records);
      if (this.#phase !== 'value' || this.#isSettled) break;
      if (this.#stack.depth === 0 && !this.#inString) this.#finish(this.#window.end, records);
      else this.#settle(itemError('MALFORMED_ROW', 'the record is not closed when the file ends'), records);
    }
    if (this.#isArray && this.#phase === 'between') {
      const error = itemError('MALFORMED_ROW', 'the array is not closed: the file seems to be cut short');
      records.push(badRecord(++this.#row, this.#line, error));
      this.#phase = 'ignored';
    }
    return records;
  }

  /** Scans what is held from the current position on, or less when the position is set back. */
  #scan(records: SourceRecord[]): void {
    const base = this.#at;
    const bytes = this.#window.slice(base, this.#window.end);
    for (let index = 0; index < bytes.length; index++) {
      if (this.#inString) {
        index = this.#skipString(bytes, index);
        if (index === bytes.length) break;
      }
      const byte = bytes[index]!;
      this.#at = base + index + 1;
      if (byte === LF) {
        this.#endLine(records);
      } else if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) {
        if (this.#lineIsBlank && byte !== COMMA) this.#beginLine(byte);
        if (this.#phase === 'value') this.#insideValue(byte, records);
        else this.#outsideValue(byte, records);
      }
      // What follows a broken value may have to be scanned again.
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
        if (byte === CLOSE_BRACKET && this.#isArray) this.#phase = 'after';
        else this.#openValue(byte, records);
        return;
      case 'after': {
        const error = itemError('MALFORMED_ROW', 'there is something after the end of the array');
        records.push(badRecord(++this.#row, this.#line, error));
        this.#phase = 'ignored';
        return;
      }
      case 'value':
      case 'ignored':
    }
  }

  #openValue(byte: number, records: SourceRecord[]): void {
    const start = this.#at - 1;
    this.#value = { start, line: this.#line, opener: byte, column: start - this.#lineStart };
    this.#phase = 'value';
    this.#stack.clear();
    this.#isBroken = this.#isSettled = this.#escaped = false;
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
    // Nothing in the value owes this bracket, so it closes the array around it.
    if (byte !== CLOSE_BRACKET || !this.#isArray) return;
    this.#isBroken = this.#stack.depth > 0;
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

  #beginLine(byte: number): void {
    this.#lineIsBlank = false;
    if (this.#phase !== 'value' || this.#restart !== null || this.#stack.depth === 0) return;
    const column = this.#at - 1 - this.#lineStart;
    if (byte === this.#value.opener && column <= this.#value.column) {
      this.#restart = { offset: this.#at - 1, line: this.#line, column };
    }
  }

  /** Ends the current value at `end`. */
  #finish(end: number, records: SourceRecord[]): void {
    if (!this.#isSettled) {
      const { start, line } = this.#value;
      if (end - start > this.#limit) {
        this.#settleLong(records);
        if (!this.#isSettled) return;
      } else {
        const record = jsonRecord(this.#window.slice(start, end), this.#row + 1, line);
        if (record.error !== null && this.#isBroken && this.#canRestart()) {
          this.#settle(record.error, records);
          return;
        }
        this.#row++;
        records.push(record);
      }
    }
    this.#phase = 'between';
    this.#inString = false;
  }

  #settleLong(records: SourceRecord[]): void {
    this.#settle(itemError('ITEM_TOO_LARGE', `the record is larger than ${this.#limit} bytes`), records);
  }

  /** Settles the value with an error, and sets the position back to where the next one seems to begin. */
  #settle(error: ItemError, records: SourceRecord[]): void {
    records.push(badRecord(++this.#row, this.#value.line, error));
    if (!this.#canRestart()) {
      this.#isSettled = true;
      return;
    }
    const { offset, line, column } = this.#restart!;
    this.#rescanned += this.#at - offset;
    this.#at = offset;
    this.#line = line;
    this.#lineStart = offset - column;
    this.#lineIsBlank = false;
    this.#inString = this.#escaped = false;
    this.#phase = 'between';
  }

  #canRestart(): boolean {
    return this.#restart !== null && this.#rescanned < 4 * this.#window.end + RESCAN_BYTES;
  }
}
