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
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const NOT_CLOSED = 'the record is not closed';

/** What may follow a string within a value. */
const AFTER_STRING: readonly number[] = [QUOTE, COMMA, COLON, CLOSE_BRACKET, CLOSE_BRACE];

/** Where a value starts, or seems to. */
interface Place {
  readonly offset: number;
  readonly line: number;
  /** Bytes before it on its line. */
  readonly column: number;
  /** Whether nothing but white space is before it on its line. */
  readonly isFirst: boolean;
}

/**
 * Reads the values of a JSON array, or a sequence of JSON values, as one record each. Buffers at most one value (up to
 * `limit` bytes) and one piece of the file.
 *
 * The reader only finds the start and end of values; a value that is not valid JSON is one bad record. A line break in a
 * string, a bracket out of place, text behind a string and an object without a name in an object are damage.
 *
 * After damage, reading goes on at the next line that opens another value: one that starts with a bracket, or a quote
 * where records are strings, and is not indented further than the damaged value. If such a line came before the damage
 * showed, or the value has no end, reading goes back to it; then each such line ends a value, up to where reading had
 * come. So nothing is scanned more than twice. A damaged value that shares its line with the value before it ends where
 * its brackets do; if it has no end, the rest of that line is lost: brackets in a line tell an element from an object
 * inside one only as long as they match. A bracket that closes the array too early is a bad record of its own.
 */
export class JsonReader implements RecordReader {
  readonly rereadFrom = null;
  readonly #limit: number;
  readonly #isArray: boolean;
  readonly #window = new ByteWindow();
  readonly #stack = new BracketStack();
  readonly #isMember: boolean;
  #phase: 'before' | 'between' | 'value' | 'lost' | 'after' | 'outside';
  #at = 0;
  #line = 1;
  #row = 0;
  #lineStart = 0;
  /** Whether only white space was seen on the current line. */
  #lineIsBlank = true;
  #value: Place = { offset: 0, line: 1, column: 0, isFirst: false };
  /** The byte that the last good record starts with. */
  #opener: number | null = null;
  /** Bytes before the last good record that is the first on its line; as long as there is none, before the first value. */
  #indent: number | null = null;
  /** Whether there was such a record. */
  #isLinewise = false;
  /** Offset of the first byte on the current line that is neither white space nor a comma. */
  #firstAt = -1;
  #inString = false;
  #escaped = false;
  /** The last byte of the value outside strings that is not white space; a quote after a string. */
  #last = 0;
  #isDamaged = false;
  /** The value exceeds the limit: its bytes are skipped. */
  #isSkipped = false;
  /** The first line in the value that seems to open another one. */
  #restart: Place | null = null;
  /** A value that starts before this offset ends at the first such line, or at such an object. */
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
    return this.#phase === 'value' && !this.#isSkipped ? this.#value.offset : this.#at;
  }

  /** Scans the piece, which starts at the current position; stops early if the position changes or a limit is reached. */
  #scan(piece: Buffer, records: SourceRecord[]): void {
    const base = this.#at;
    let bytes = piece;
    for (let index = 0; index < bytes.length; index++) {
      if (this.#phase === 'value' && !this.#isSkipped) {
        const bound = this.#value.offset + this.#limit + 1 - base;
        if (index >= bound) {
          this.#at = base + index;
          this.#exceedLimit(records);
          return;
        }
        if (bound < bytes.length) bytes = piece.subarray(0, bound);
      }
      if (this.#inString && !this.#lineIsBlank) {
        index = this.#skipString(bytes, index);
        if (index === bytes.length) break;
      }
      const byte = bytes[index]!;
      this.#at = base + index + 1;
      if (byte === LF) {
        this.#endLine(records);
      } else if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) {
        if (this.#lineIsBlank && byte !== COMMA && this.#beginLine(byte, records)) return;
        if (this.#inString) {
          // The loop comes back to this byte.
          if (!this.#lineIsBlank) index--;
          continue;
        }
        if (this.#phase === 'value') this.#insideValue(byte, records);
        else this.#outsideValue(byte, records);
        this.#last = byte;
      }
      // The value ended before this byte, which is scanned again, or reading goes back.
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
        this.#last = QUOTE;
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
      case 'lost':
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
    if (byte !== OPEN_BRACKET || this.#opener === OPEN_BRACKET) this.#openValue(byte, records);
  }

  #openValue(byte: number, records: SourceRecord[]): void {
    this.#value = this.#here();
    this.#indent ??= this.#value.column;
    this.#phase = 'value';
    this.#stack.clear();
    this.#isDamaged = this.#isSkipped = this.#escaped = false;
    this.#restart = null;
    this.#last = 0;
    this.#insideValue(byte, records);
  }

  #insideValue(byte: number, records: SourceRecord[]): void {
    if (this.#last === QUOTE && !AFTER_STRING.includes(byte)) {
      // A quote is missing or too many: the last one opened a string rather than closing one.
      this.#isDamaged = this.#inString = true;
      this.#escaped = byte === BACKSLASH;
      return;
    }
    switch (byte) {
      case QUOTE:
        this.#inString = true;
        return;
      case OPEN_BRACKET:
        this.#stack.push(CLOSE_BRACKET);
        return;
      case OPEN_BRACE:
        // An object inside an object needs a name before it: this one opens another value.
        if (this.#last === COMMA && this.#stack.top === CLOSE_BRACE) {
          this.#endAt(this.#restart ?? this.#here(), NOT_CLOSED, records);
        } else this.#stack.push(CLOSE_BRACE);
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
    if (closed !== 'next') this.#isDamaged = true;
    if (closed !== 'none') {
      if (this.#stack.depth === 0) this.#finish(this.#at, records);
      return;
    }
    // The value does not expect this bracket. After a scalar it closes the array; otherwise it is ignored.
    if (byte !== CLOSE_BRACKET || !this.#isArray || this.#stack.depth > 0) return;
    this.#isDamaged = false;
    this.#at--;
    this.#finish(this.#at, records);
  }

  #endLine(records: SourceRecord[]): void {
    const end = this.#at - 1;
    this.#line++;
    this.#lineStart = this.#at;
    this.#lineIsBlank = true;
    this.#escaped = false;
    if (this.#inString) this.#isDamaged = true;
    if (this.#phase === 'value' && this.#stack.depth === 0 && !this.#isArray) this.#finish(end, records);
  }

  /** Whether the value ends before this byte, the first on its line, because it opens another value. */
  #beginLine(byte: number, records: SourceRecord[]): boolean {
    this.#lineIsBlank = false;
    this.#firstAt = this.#at - 1;
    const here = this.#here();
    const own = this.#value.column;
    const indent = this.#indent ?? 0;
    const isOutermost = here.column <= Math.max(indent, own);
    const opensString = this.#opener === QUOTE ? isOutermost : this.#opener === null && here.column === own;
    const opensValue =
      byte === QUOTE ? opensString : isOutermost && (byte === OPEN_BRACE || byte === OPEN_BRACKET);
    if (this.#phase === 'lost') {
      if (opensValue || (byte === CLOSE_BRACKET && here.column <= indent)) this.#phase = 'between';
      return false;
    }
    if (this.#phase !== 'value' || !opensValue) return false;
    if (this.#stack.depth === 0 && !this.#inString) {
      this.#goTo(here);
      this.#finish(here.offset, records);
      return true;
    }
    const isEnd = this.#isDamaged || this.#isSkipped || this.#value.offset < this.#linewiseUntil;
    if (isEnd) this.#endAt(this.#restart ?? here, NOT_CLOSED, records);
    else this.#restart ??= here;
    return isEnd;
  }

  /** The place of the byte that was scanned last. */
  #here(): Place {
    const offset = this.#at - 1;
    return {
      offset,
      line: this.#line,
      column: offset - this.#lineStart,
      isFirst: offset === this.#firstAt,
    };
  }

  /** Ends the current value at `end`. */
  #finish(end: number, records: SourceRecord[]): void {
    const { offset, line } = this.#value;
    if (this.#isSkipped) {
      const message = `the record has ${end - offset} bytes of at most ${this.#limit}`;
      records.push(badRecord(++this.#row, line, itemError('ITEM_TOO_LARGE', message)));
    } else {
      const span = { start: this.#inputStart + offset, end: this.#inputStart + end };
      const record = jsonRecord(this.#window.slice(offset, end), this.#row + 1, line, span);
      if (record.error !== null && this.#restart !== null) {
        this.#endAt(this.#restart, record.error.message, records);
        return;
      }
      this.#row++;
      records.push(record);
      const { isFirst, column } = this.#value;
      const first = this.#window.slice(offset, offset + 1)[0]!;
      if (record.error === null) {
        this.#opener = first;
        if (isFirst) this.#indent = column;
        this.#isLinewise ||= isFirst;
      } else if (record.isBroken === true && isFirst && this.#isLinewise) {
        // Its brackets cannot be trusted, nor what is left of it on its lines.
        if (this.#isDamaged || first !== this.#opener) this.#phase = 'lost';
      }
    }
    if (this.#phase === 'value') this.#phase = 'between';
    this.#inString = false;
  }

  /** The value has reached the limit. */
  #exceedLimit(records: SourceRecord[]): void {
    if (this.#restart === null) this.#isSkipped = true;
    else this.#endAt(this.#restart, `the record is not closed within ${this.#limit} bytes`, records);
  }

  /** The file ends inside a value. */
  #endInValue(records: SourceRecord[]): void {
    const what = 'the record is not closed at the end of the file';
    if (this.#restart !== null && !this.#isSkipped) {
      this.#endAt(this.#restart, what, records);
      return;
    }
    records.push(this.#unread(what, this.#window.end));
    this.#phase = 'after';
  }

  /** Reports the value as bad and goes on at a place, which may have been passed. */
  #endAt(place: Place, what: string, records: SourceRecord[]): void {
    records.push(this.#unread(what, place.offset));
    if (place.offset < this.#at - 1) this.#linewiseUntil = Math.max(this.#linewiseUntil, this.#at);
    this.#goTo(place);
    this.#inString = this.#escaped = false;
    this.#phase = 'between';
  }

  /** Goes on at a place. */
  #goTo({ offset, line, column }: Place): void {
    this.#at = offset;
    this.#line = line;
    this.#lineStart = offset - column;
    this.#lineIsBlank = false;
    this.#firstAt = offset;
  }

  /** The value as a bad record, whose bytes up to `end` were not read. */
  #unread(what: string, end: number): SourceRecord {
    const bytes = end - this.#value.offset;
    return this.#bad(
      `${what}: ${bytes} ${plural(bytes, 'byte was', 'bytes were')} not read`,
      this.#value.line,
    );
  }

  #bad(message: string, line: number): SourceRecord {
    return badRecord(++this.#row, line, itemError('MALFORMED_ROW', message));
  }
}
