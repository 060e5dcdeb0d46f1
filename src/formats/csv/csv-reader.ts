import { isUtf8 } from 'node:buffer';
import { itemError, type ItemError } from '../../domain/item-error.ts';
import { ByteWindow } from '../byte-window.ts';
import { REPLACEMENT } from '../encoding/validity.ts';
import { badRecord, type RecordReader, type SourceRecord } from '../record.ts';
import type { Delimiter } from './delimiter.ts';
import { LOOK_AHEAD, RowParser, type ParsedRow } from './row-parser.ts';
import { TableHeader, TableRow } from './table-row.ts';

export interface CsvDialect {
  readonly delimiter: Delimiter;
  /** What ends a line. With CR, an LF or a CR LF does too. */
  readonly lineBreak: '\n' | '\r';
  /** The first line names the delimiter; the header is the second. */
  readonly namesDelimiter: boolean;
}

const LF = 0x0a;
const CR = 0x0d;

/** Nothing but white space, and perhaps the end-of-file mark of DOS. */
const BLANK = /^\s*\u001a?\s*$/;

/** Bytes parsed at a time, so that little is parsed in vain when a row has to be abandoned. */
const FEED_BYTES = 64 * 1024;

/**
 * Reads the rows of a delimited table (RFC 4180, any of the usual delimiters). A row that breaks the rules is one bad
 * record, and reading goes on at the physical line after the one it begins on, so that a quote that is never closed
 * costs its own row and not the rest of the file.
 *
 * Holds the bytes of the current row, up to `limit` and one piece.
 */
export class CsvReader implements RecordReader {
  readonly #dialect: CsvDialect;
  readonly #limit: number;
  readonly #endsWithCr: boolean;
  readonly #window = new ByteWindow();
  #parser: RowParser;
  /** Offset in the file of the first byte the current parser was given. */
  #parserStart = 0;
  /** Offset after the last byte it was given. */
  #fed = 0;
  #rowStart = 0;
  #line = 1;
  #row = 0;
  #header: TableHeader | null = null;
  /** The header's bytes hold line breaks. */
  #headerHasLines = false;
  /** What comes next, up to the next line break, belongs to a row that is already settled, or to none. */
  #skippingLine: boolean;
  /** Without a header that can be read, nothing after it can be. */
  #headless = false;

  constructor(dialect: CsvDialect, limit: number) {
    this.#dialect = dialect;
    this.#limit = limit;
    this.#endsWithCr = dialect.lineBreak === '\r';
    this.#skippingLine = dialect.namesDelimiter;
    this.#parser = this.#newParser();
  }

  /** Null until the header was read, and for good when it cannot be. */
  get header(): TableHeader | null {
    return this.#header;
  }

  push(chunk: Buffer): SourceRecord[] {
    const records: SourceRecord[] = [];
    this.#window.append(chunk);
    if (this.#skippingLine) this.#skipLine();
    this.#feed(records);
    // The byte before the row tells whether an LF it begins with belongs to a CR.
    this.#window.dropBefore(this.#headless ? this.#window.end : this.#rowStart - 1);
    return records;
  }

  end(): SourceRecord[] {
    const records: SourceRecord[] = [];
    while (!this.#headless && !this.#skippingLine) {
      this.#feed(records);
      let error = this.#parse(LOOK_AHEAD, records);
      if (error === null) {
        this.#skipBlankLines();
        if (this.#rowStart >= this.#window.end) break;
        error = itemError('MALFORMED_ROW', 'a quote is opened and never closed');
      }
      this.#abandon(error, records);
    }
    this.#parser.destroy();
    if (this.#headerHasLines && this.#row === 0) {
      // A quote may have made a header of the rows: a table that has lines never comes to nothing in silence.
      const error = itemError('MALFORMED_ROW', 'the header runs over several lines and no row follows it');
      records.push(badRecord(++this.#row, 1, error));
    }
    return records;
  }

  /** Parses what is held and was not parsed yet. */
  #feed(records: SourceRecord[]): void {
    while (!this.#headless && !this.#skippingLine && this.#fed < this.#window.end) {
      const from = this.#fed;
      this.#fed = Math.min(from + FEED_BYTES, this.#window.end);
      let error = this.#parse(this.#window.slice(from, this.#fed), records);
      if (error === null) {
        this.#skipBlankLines();
        // The parser may hold back the last few bytes of a row that is complete.
        const isLong = this.#fed - this.#rowStart > this.#limit + LOOK_AHEAD.length;
        if (isLong) error = this.#tooLong();
      }
      if (error !== null) this.#abandon(error, records);
    }
  }

  /** Gives an error when the row that follows the last one taken over has to be abandoned. */
  #parse(bytes: Buffer, records: SourceRecord[]): ItemError | null {
    for (const row of this.#parser.parse(bytes)) {
      const error = this.#accept(row, records);
      if (error !== null) return error;
    }
    if (this.#parser.errored === null) return null;
    return itemError('MALFORMED_ROW', 'a quote stands where none may be');
  }

  /** Takes a row over; gives an error instead when the row cannot have been meant to reach this far. */
  #accept({ cells, end }: ParsedRow, records: SourceRecord[]): ItemError | null {
    this.#skipBlankLines();
    const from = this.#rowStart;
    const to = Math.min(this.#parserStart + end, this.#window.end);
    if (to - from > this.#limit) return this.#tooLong();
    if (this.#header !== null && cells.length !== this.#header.names.length) {
      if (cells.length === 1 && BLANK.test(cells[0]!)) {
        this.#advance(to);
        return null;
      }
      const error = itemError(
        'MALFORMED_ROW',
        `the row has ${cells.length} fields where the header has ${this.#header.names.length}`,
      );
      if (this.#swallowedAnotherRow(from, to)) return error;
      records.push(badRecord(++this.#row, this.#line, error));
    } else if (this.#header === null) {
      this.#header = new TableHeader(cells);
      this.#headerHasLines = /[\r\n]/.test(this.#window.slice(from, to).toString('latin1').trim());
    } else {
      records.push(this.#record(this.#header, cells, from, to));
    }
    this.#advance(to);
    return null;
  }

  #record(header: TableHeader, cells: readonly string[], from: number, to: number): SourceRecord {
    const row = ++this.#row;
    const line = this.#line;
    const suspect = cells.some((cell) => cell.includes(REPLACEMENT));
    if (suspect && !isUtf8(this.#window.slice(from, to))) {
      return badRecord(row, line, itemError('INVALID_ENCODING', 'the row holds bytes that are not text'));
    }
    return { row, line, content: new TableRow(header, cells), error: null };
  }

  /**
   * Whether a row with the wrong number of fields runs over several lines and its second line is a whole row by
   * itself: then a stray quote joined them.
   */
  #swallowedAnotherRow(from: number, to: number): boolean {
    const first = this.#nextBreak(from);
    if (first < 0 || first + 1 >= to) return false;
    const second = this.#nextBreak(first + 1);
    const line = this.#window.slice(first + 1, second < 0 ? to : second);
    const parser = this.#newParser();
    const rows = parser.parse(Buffer.concat([line, LOOK_AHEAD]));
    parser.destroy();
    return (
      rows.length === 1 && rows[0]!.cells.length > 1 && rows[0]!.cells.length === this.#header!.names.length
    );
  }

  /** Settles the current row with an error and goes to the line after the one it begins on. */
  #abandon(error: ItemError, records: SourceRecord[]): void {
    this.#skipBlankLines();
    records.push(badRecord(++this.#row, this.#line, error));
    if (this.#header === null) this.#headless = true;
    else this.#skipLine();
  }

  /** Why a row beyond the limit is refused: its first line is, or it runs on because a quote is not closed. */
  #tooLong(): ItemError {
    const newline = this.#nextBreak(this.#rowStart);
    const oneLine = newline < 0 || newline + 2 - this.#rowStart >= this.#limit;
    return oneLine
      ? itemError('ITEM_TOO_LARGE', `the row is larger than ${this.#limit} bytes`)
      : itemError('MALFORMED_ROW', `a quote is opened and not closed within ${this.#limit} bytes`);
  }

  /** Goes to the next line, or on to the end of what is held, when that line has not come yet. */
  #skipLine(): void {
    const newline = this.#nextBreak(this.#rowStart);
    this.#skippingLine = newline < 0;
    this.#rowStart = this.#fed = newline < 0 ? this.#window.end : newline + 1;
    if (newline < 0) return;
    this.#line++;
    this.#parser.destroy();
    this.#parser = this.#newParser();
    this.#parserStart = this.#rowStart;
  }

  #skipBlankLines(): void {
    for (;;) {
      const byte = this.#window.at(this.#rowStart);
      if (byte !== LF && byte !== CR) return;
      if (this.#isBreak(this.#rowStart)) this.#line++;
      this.#rowStart++;
    }
  }

  #advance(to: number): void {
    const from = this.#rowStart;
    this.#line += this.#window.count(this.#endsWithCr ? CR : LF, from, to);
    if (this.#endsWithCr) {
      for (
        let at = this.#window.indexOf(LF, from);
        at >= 0 && at < to;
        at = this.#window.indexOf(LF, at + 1)
      ) {
        if (this.#isBreak(at)) this.#line++;
      }
    }
    this.#rowStart = to;
  }

  /** Offset of the next byte that ends a line, or -1. The LF of a CR LF then is a blank line, which counts for nothing. */
  #nextBreak(from: number): number {
    const lf = this.#window.indexOf(LF, from);
    if (!this.#endsWithCr) return lf;
    const cr = this.#window.indexOf(CR, from);
    return lf < 0 || cr < 0 ? Math.max(lf, cr) : Math.min(lf, cr);
  }

  /** Whether the CR or LF at an offset begins a new physical line. */
  #isBreak(at: number): boolean {
    const byte = this.#window.at(at);
    if (!this.#endsWithCr) return byte === LF;
    return byte === CR || this.#window.at(at - 1) !== CR;
  }

  #newParser(): RowParser {
    return new RowParser(this.#dialect.delimiter, this.#dialect.lineBreak);
  }
}
