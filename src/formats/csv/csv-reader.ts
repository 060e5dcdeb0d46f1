import { isUtf8 } from 'node:buffer';
import type { ItemError } from '../../domain/item-error.ts';
import { ByteWindow } from '../byte-window.ts';
import { REPLACEMENT } from '../encoding/validity.ts';
import { BATCH_BYTES, badRecord, type RecordBatch, type RecordReader, type SourceRecord } from '../record.ts';
import type { CsvDialect } from './csv-dialect.ts';
import { CR, LF, LineBreaks } from './line-breaks.ts';
import {
  headerUnreadable,
  MISQUOTED,
  NO_ROW_FITS_HEADER,
  NOT_TEXT,
  rowTooLarge,
  tooManyColumns,
  UNCLOSED,
  UNCLOSED_IN_HEADER,
  UNCLOSED_ON_LINE,
  withUnread,
  wrongFieldCount,
} from './row-errors.ts';
import { RowScanner } from './row-scanner.ts';
import { StrayQuotes } from './stray-quotes.ts';
import { TableHeader, TableRow } from './table-row.ts';

/** The end-of-file character of DOS (Ctrl-Z). */
const DOS_EOF = '\u001a';

/** Bounds the memory for one row's cells; no known table has more. */
const MAX_COLUMNS = 65_536;

/** Offset of a line that was not found (yet). */
const UNKNOWN = -1;

/** Times a file may be reread. A stream has to be read from its start each time. */
const MAX_REREADS = 3;

/**
 * Reads the rows of a delimited table (RFC 4180 with one of the usual delimiters). A malformed row is one bad record.
 * Reading resumes on the physical line after the one the row starts on, so that an unclosed quote loses one row and not
 * the rest of the file.
 *
 * Buffers the current row, up to `limit` bytes plus one chunk. Of a longer row, it buffers `limit` bytes from the second
 * line on, to rescan them if a stray quote turns out to have opened a cell. If these were dropped too, it requests a
 * reread of the file (`rereadFrom`).
 */
export class CsvReader implements RecordReader {
  readonly #dialect: CsvDialect;
  readonly #limit: number;
  readonly #endsWithCr: boolean;
  readonly #lineBreaks: LineBreaks;
  #window = new ByteWindow();
  readonly #scanner: RowScanner;
  readonly #strays: StrayQuotes;
  /** Offset of the next byte to scan. */
  #at = 0;
  #rowStart = 0;
  #line = 1;
  #row = 0;
  #header: TableHeader | null = null;
  #bodyStart: number | null = null;
  /** The header contains line breaks, and no row so far has as many cells. */
  #isHeaderDoubtful = false;
  /** Whether the byte before the row is a CR that ends a line, so that an LF belongs to the same line break. */
  #afterCr = false;
  /** Whether the bytes up to the next line break belong to no row, or to a row that was already reported. */
  #isSkippingLine: boolean;
  /** The row is longer than the limit, so its bytes are skipped. */
  #isTooLong = false;
  /** Offset of the second line of a row that is too long. */
  #secondLine = UNKNOWN;
  /** Whether that line was dropped from the buffer, and if so, whether it was a complete row. */
  #isDropped = false;
  #isSecondARow = false;
  /** Where to resume after a bad row whose second line was dropped. Nothing is read until the reread. */
  #resumeAt: number | null = null;
  #rereadFrom: number | null = null;
  #rereads = 0;
  /** Why the header cannot be read. Nothing after it is read either. */
  #headerError: ItemError | null = null;

  constructor(dialect: CsvDialect, limit: number) {
    this.#dialect = dialect;
    this.#limit = limit;
    this.#endsWithCr = dialect.lineBreak === '\r';
    this.#lineBreaks = new LineBreaks(dialect);
    this.#isSkippingLine = dialect.namesDelimiter;
    this.#scanner = new RowScanner(dialect);
    this.#strays = new StrayQuotes(dialect, limit);
    this.#scanner.begin(MAX_COLUMNS);
  }

  /** Null until the header is read, and if it is unreadable. */
  get header(): TableHeader | null {
    return this.#header;
  }

  /** Offset at which the rows begin, after the header; null until it is known, and if a stray quote is in the header. */
  get bodyStart(): number | null {
    return this.#bodyStart;
  }

  get hasUnreadableHeader(): boolean {
    return this.#headerError !== null;
  }

  get rereadFrom(): number | null {
    return this.#rereadFrom;
  }

  *push(chunk: Buffer): Generator<RecordBatch, void> {
    this.#window.append(chunk);
    yield* this.#read();
  }

  *end(): Generator<RecordBatch, void> {
    while (!this.#isStopped && !this.#isSkippingLine && this.#rowStart < this.#window.end) {
      const records: SourceRecord[] = [];
      if (this.#scanner.finish(this.#at - this.#rowStart)) this.#finishRow(records);
      else this.#endInQuotes(records);
      yield records;
      yield* this.#read();
    }
    this.#rereadFrom = this.#headerError === null ? this.#resumeAt : null;
    this.#resumeAt = null;
    if (this.#rereadFrom !== null) {
      this.#window = new ByteWindow(this.#rereadFrom);
      this.#at = this.#rowStart = this.#rereadFrom;
      return;
    }
    const error = this.#headerErrorAtEnd();
    if (error !== null) yield [badRecord(++this.#row, 1, error)];
  }

  #headerErrorAtEnd(): ItemError | null {
    if (this.#headerError !== null) return headerUnreadable(this.#headerError, this.#window.end);
    // A stray quote may have merged all rows into the header: never drop them silently.
    return this.#isHeaderDoubtful ? NO_ROW_FITS_HEADER : null;
  }

  /** Whether the rest of the file is ignored, for good or until the reread. */
  get #isStopped(): boolean {
    return this.#resumeAt !== null || this.#headerError !== null;
  }

  *#read(): Generator<RecordBatch, void> {
    let records: SourceRecord[] = [];
    let batchStart = this.#at;
    while (this.#at < this.#window.end) {
      this.#step(records);
      // Going back to an earlier line ends a batch, too.
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
    if (!this.#isTooLong) return this.#rowStart;
    // The byte before the line shows whether an LF belongs to a CR.
    return this.#secondLine >= 0 && !this.#isDropped ? this.#secondLine - 1 : this.#at;
  }

  /** Scans to the end of the row or of the scannable bytes, whichever comes first. */
  #step(records: SourceRecord[]): void {
    if (this.#isStopped) {
      this.#at = this.#rowStart = this.#window.end;
      return;
    }
    if (this.#isSkippingLine) {
      this.#skipLine();
      return;
    }
    if (this.#at === this.#rowStart && !this.#skipBreaks()) return;
    const bytes = this.#scannable();
    if (bytes.length === 0) {
      this.#atBound();
      return;
    }
    const end = this.#scanner.scan(bytes, this.#at - this.#rowStart);
    this.#at += end < 0 ? bytes.length : end;
    if (end >= 0) {
      if (this.#scanner.isMisquoted) this.#misquoted(records);
      else this.#finishRow(records);
    } else if (this.#strays.isLinewise(this.#rowStart) && this.#lineBreaks.isAtEndOf(bytes)) {
      this.#giveUp(UNCLOSED_ON_LINE, this.#at, records);
    } else if (this.#isTooLong && this.#secondLine === UNKNOWN && this.#lineBreaks.isAtEndOf(bytes)) {
      this.#secondLine = this.#at;
    }
  }

  /** Buffered bytes from the current position, up to the next point where the reader has to make a decision. */
  #scannable(): Buffer {
    const piece = this.#window.pieceFrom(this.#at);
    if (this.#strays.isLinewise(this.#rowStart) || (this.#isTooLong && this.#secondLine === UNKNOWN)) {
      const lineBreak = this.#lineBreaks.firstIn(piece);
      if (lineBreak >= 0) return this.#bounded(piece.subarray(0, lineBreak + 1));
    }
    return this.#bounded(piece);
  }

  #bounded(bytes: Buffer): Buffer {
    if (this.#isDropped || (this.#isTooLong && this.#secondLine === UNKNOWN)) return bytes;
    const from = this.#isTooLong ? this.#secondLine : this.#rowStart;
    const left = from + this.#limit - this.#at;
    return left < bytes.length ? bytes.subarray(0, left) : bytes;
  }

  /** The row has reached the limit, or the buffered part of a row that is too long has. */
  #atBound(): void {
    if (!this.#isTooLong) {
      this.#isTooLong = true;
      this.#secondLine = this.#lineAfter(this.#rowStart);
    } else {
      this.#isSecondARow = this.#strays.isRow(this.#window, this.#secondLine, this.#at, this.#columns());
      this.#isDropped = true;
    }
  }

  #finishRow(records: SourceRecord[]): void {
    const { breaks } = this.#scanner;
    const second = this.#joinedLine();
    if (second >= 0) {
      this.#giveUp(this.#fieldCountError(), second, records);
      return;
    }
    if (this.#isTooLong) this.#refuse(rowTooLarge(this.#at - this.#rowStart, this.#limit), records);
    else if (breaks > 0 && this.#header === null && this.#isHeaderJoined(records)) return;
    else if (!this.#isBlank()) this.#accept(records);
    this.#nextRow(breaks + 1);
  }

  /** The second line of a row that a stray quote seems to have joined from several rows; UNKNOWN for other rows. */
  #joinedLine(): number {
    const { count, breaks } = this.#scanner;
    const columns = this.#columns();
    if (breaks === 0 || count === columns || columns < 2) return UNKNOWN;
    const second = this.#isTooLong ? this.#secondLine : this.#lineAfter(this.#rowStart);
    if (second === UNKNOWN) return UNKNOWN;
    const isRow = this.#isDropped
      ? this.#isSecondARow
      : this.#strays.isRow(this.#window, second, this.#at, columns);
    return isRow ? second : UNKNOWN;
  }

  /** Whether a stray quote seems to have joined rows to the header. Then its first line becomes the header, as a bad record. */
  #isHeaderJoined(records: SourceRecord[]): boolean {
    const second = this.#lineAfter(this.#rowStart);
    if (!this.#dialect.header || second === UNKNOWN) return false;
    const names = this.#strays.namesIn(this.#window, this.#rowStart, second, this.#at, this.#scanner.count);
    if (names === null) return false;
    this.#header = new TableHeader(names);
    this.#giveUp(UNCLOSED_IN_HEADER, second, records);
    return true;
  }

  #accept(records: SourceRecord[]): void {
    const { count } = this.#scanner;
    const row = this.#window.slice(this.#rowStart, this.#at);
    if (this.#header === null) {
      if (count > MAX_COLUMNS) {
        this.#refuse(tooManyColumns(count, MAX_COLUMNS), records);
        return;
      }
      if (this.#dialect.header) {
        this.#header = new TableHeader(this.#scanner.texts(row));
        this.#bodyStart = this.#at;
        this.#isHeaderDoubtful = /[\r\n]/.test(row.toString('latin1').trim());
        return;
      }
      this.#header = TableHeader.byPosition(count);
      this.#bodyStart = this.#rowStart;
    }
    if (count !== this.#columns()) {
      this.#refuse(this.#fieldCountError(), records);
      return;
    }
    this.#isHeaderDoubtful = false;
    records.push(this.#record(this.#header, row));
  }

  #fieldCountError(): ItemError {
    return wrongFieldCount(this.#scanner.count, this.#columns());
  }

  #record(header: TableHeader, bytes: Buffer): SourceRecord {
    const row = ++this.#row;
    const line = this.#line;
    const cells = this.#scanner.texts(bytes);
    const suspect = cells.some((cell) => cell.includes(REPLACEMENT));
    if (suspect && !isUtf8(bytes)) return badRecord(row, line, NOT_TEXT);
    const span = { start: this.#rowStart, end: this.#at };
    return { row, line, span, content: new TableRow(header, cells), error: null };
  }

  /** Whether the row is a blank line or the DOS end-of-file character. */
  #isBlank(): boolean {
    if (this.#scanner.count !== 1 || this.#scanner.isQuoted) return false;
    const first = this.#window.pieceFrom(this.#rowStart)[0]!;
    if (first > 0x20 && first < 0x80) return false;
    const cell = this.#scanner.texts(this.#window.slice(this.#rowStart, this.#at))[0]!;
    // In a table of one column, a line of white space is a row.
    const text = this.#columns() === 1 ? cell : cell.trim();
    return text === '' || text === DOS_EOF;
  }

  /** A quoted cell continues after its closing quote. */
  #misquoted(records: SourceRecord[]): void {
    const second = this.#isTooLong ? this.#secondLine : this.#lineAfter(this.#rowStart);
    this.#giveUp(MISQUOTED, second, records);
  }

  /** The file ends inside a quoted cell. */
  #endInQuotes(records: SourceRecord[]): void {
    const second = this.#isTooLong ? this.#secondLine : this.#lineAfter(this.#rowStart);
    this.#giveUp(UNCLOSED, second, records);
  }

  /** Reports the current row as bad and resumes on its second line, or after the current line if there is none. */
  #giveUp(error: ItemError, secondLine: number, records: SourceRecord[]): void {
    if (secondLine === UNKNOWN || (this.#isDropped && this.#rereads === MAX_REREADS)) {
      const bytes = this.#at - this.#rowStart;
      this.#refuse(this.#scanner.breaks > 0 ? withUnread(error, bytes) : error, records);
      // Otherwise the row ended with a line break, or with the file.
      this.#isSkippingLine = this.#scanner.isMisquoted;
      this.#nextRow(this.#scanner.breaks + (this.#isSkippingLine ? 0 : 1));
      return;
    }
    this.#refuse(error, records);
    if (this.#isDropped) {
      this.#rereads++;
      // Includes the line break, which shows whether an LF belongs to a CR.
      this.#resumeAt = this.#at = secondLine - 1;
      this.#nextRow(0);
    } else {
      this.#strays.goBack(secondLine, this.#at);
      this.#at = secondLine;
      this.#nextRow(1);
    }
  }

  /** Reports the current row as a bad record. A bad header is reported at the end, with the size of the file. */
  #refuse(error: ItemError, records: SourceRecord[]): void {
    if (this.#header === null && this.#dialect.header) {
      this.#headerError = error;
      return;
    }
    records.push(badRecord(++this.#row, this.#line, error));
  }

  /** Starts a row at the current offset, `lines` lines below the start of the previous one. */
  #nextRow(lines: number): void {
    this.#line += lines;
    this.#afterCr = this.#endsWithCr && this.#window.indexOf(CR, this.#at - 1, this.#at) >= 0;
    this.#rowStart = this.#at;
    this.#isTooLong = this.#isDropped = false;
    this.#secondLine = UNKNOWN;
    this.#scanner.begin(this.#header === null ? MAX_COLUMNS : this.#columns());
  }

  #columns(): number {
    return this.#header?.names.length ?? 0;
  }

  /** Skips to the next line, or to the end of the piece if the line does not end in it. */
  #skipLine(): void {
    const piece = this.#window.pieceFrom(this.#at);
    const lineBreak = this.#lineBreaks.firstIn(piece);
    this.#at += lineBreak < 0 ? piece.length : lineBreak + 1;
    this.#rowStart = this.#at;
    if (lineBreak < 0) return;
    this.#isSkippingLine = false;
    this.#nextRow(1);
  }

  /** Skips the line breaks before a row; false if nothing else is buffered. */
  #skipBreaks(): boolean {
    const piece = this.#window.pieceFrom(this.#at);
    let at = 0;
    for (; at < piece.length; at++) {
      const byte = piece[at];
      if (byte !== LF && (byte !== CR || !this.#endsWithCr)) break;
      if (byte === CR || !this.#afterCr) this.#line++;
      this.#afterCr = byte === CR;
    }
    this.#at += at;
    this.#rowStart = this.#at;
    return at < piece.length;
  }

  /** Offset of the line after the one at `from`; UNKNOWN if the scan has not reached it. */
  #lineAfter(from: number): number {
    const end = this.#lineBreaks.find(this.#window, from, this.#at);
    return end < 0 ? UNKNOWN : end + 1;
  }
}
