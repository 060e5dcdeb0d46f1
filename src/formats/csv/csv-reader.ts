import { isUtf8 } from 'node:buffer';
import type { ItemError } from '../../domain/item-error.ts';
import { ByteWindow } from '../byte-window.ts';
import { BATCH_BYTES, badRecord, type RecordBatch, type RecordReader, type SourceRecord } from '../record.ts';
import type { CsvDialect } from './csv-dialect.ts';
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
import { RowFramer, splitRow, splitRows } from './row-framer.ts';
import { StrayQuotes } from './stray-quotes.ts';
import { TableHeader, TableRow } from './table-row.ts';

const LF = 0x0a;
const CR = 0x0d;

/** The end-of-file character of DOS (Ctrl-Z). */
const DOS_EOF = '\u001a';

/** Limits the memory for one row's cells; no known table has more columns. */
const MAX_COLUMNS = 65_536;

/** How often a file may be reread. A stream has to be read from its start each time. */
const MAX_REREADS = 3;

/** A row of the table whose end was found but which is not split yet. */
interface FramedRow {
  readonly row: number;
  readonly line: number;
  readonly span: { readonly start: number; readonly end: number };
  /** Offset after the row's cells. */
  readonly cellsEnd: number;
}

/**
 * Reads the rows of a delimited table (RFC 4180 with one of the usual delimiters). Finds where each row ends; csv-parse
 * splits the sound rows, a batch at a time. A malformed row is one bad record. Reading resumes on the physical line
 * after the one the row starts on, so an unclosed quote loses one row and not the rest of the file.
 *
 * Buffers the current row, up to `limit` bytes, and rows of BATCH_BYTES. A longer row is not buffered. If a stray quote
 * turns out to have opened a cell in it, the reader requests a reread of the file from the row's second line
 * (`rereadFrom`).
 */
export class CsvReader implements RecordReader {
  readonly #dialect: CsvDialect;
  readonly #limit: number;
  readonly #endsWithCr: boolean;
  #window = new ByteWindow();
  readonly #framer: RowFramer;
  readonly #strays: StrayQuotes;
  /** Records to return, in order. */
  #records: (FramedRow | SourceRecord)[] = [];
  /** Offset of the next byte to scan. */
  #at = 0;
  #rowStart = 0;
  #line = 1;
  #row = 0;
  #header: TableHeader | null = null;
  #bodyStart: number | null = null;
  /** Whether the header contains line breaks and no row so far has as many cells. */
  #isHeaderDoubtful = false;
  /** Whether the byte before the row is a CR that ends a line, so an LF belongs to the same line break. */
  #afterCr = false;
  /** Whether the bytes up to the next line break belong to no row, or to a row that was already reported. */
  #isSkippingLine: boolean;
  /** Whether the row is longer than the limit, so its bytes are not kept. */
  #isTooLong = false;
  /** Whether the second line of such a row is a complete row, judging by its cells. */
  #isSecondARow = false;
  /** Offset at which to resume after a bad row that was not kept. Nothing is read until the reread. */
  #resumeAt: number | null = null;
  #rereadFrom: number | null = null;
  #rereads = 0;
  /** Why the header cannot be read. Nothing after it is read either. */
  #headerError: ItemError | null = null;

  constructor(dialect: CsvDialect, limit: number) {
    this.#dialect = dialect;
    this.#limit = limit;
    this.#endsWithCr = dialect.lineBreak === '\r';
    this.#isSkippingLine = dialect.namesDelimiter;
    this.#framer = new RowFramer(dialect);
    this.#strays = new StrayQuotes(dialect);
    this.#framer.begin(MAX_COLUMNS);
  }

  /** Null until the header has been read, and if it is unreadable. */
  get header(): TableHeader | null {
    return this.#header;
  }

  /**
   * Offset at which the rows begin, after the header; null until it is known, and if the header contains a stray quote.
   */
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
      if (this.#framer.finish()) this.#finishRow();
      else this.#giveUp(UNCLOSED);
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
    // A stray quote may have merged all rows into the header; never drop them silently.
    return this.#isHeaderDoubtful ? NO_ROW_FITS_HEADER : null;
  }

  /** Whether the rest of the file is ignored, for good or until the reread. */
  get #isStopped(): boolean {
    return this.#resumeAt !== null || this.#headerError !== null;
  }

  *#read(): Generator<RecordBatch, void> {
    let batchStart = this.#at;
    while (this.#at < this.#window.end) {
      this.#step();
      // Going back to an earlier line also ends a batch.
      if (this.#at >= batchStart && this.#at - batchStart < BATCH_BYTES) continue;
      if (this.#records.length > 0) yield this.#takeRecords();
      batchStart = this.#at;
      this.#dropRead();
    }
    if (this.#records.length > 0) yield this.#takeRecords();
    this.#dropRead();
  }

  #dropRead(): void {
    this.#window.dropBefore(this.#isTooLong ? this.#at : this.#rowStart);
  }

  /** The records so far, with the framed rows split. */
  #takeRecords(): RecordBatch {
    const records = this.#records;
    this.#records = [];
    const framed = records.filter((record) => 'cellsEnd' in record);
    if (framed.length === 0) return records as SourceRecord[];
    const start = framed[0]!.span.start;
    const bytes = this.#window.slice(start, framed.at(-1)!.cellsEnd);
    const ranges = framed.map(({ span, cellsEnd }) => ({ start: span.start - start, end: cellsEnd - start }));
    const rows = splitRows(bytes, ranges, this.#dialect);
    const areText = isUtf8(bytes);
    let index = 0;
    return records.map((record): SourceRecord => {
      if (!('cellsEnd' in record)) return record;
      const { row, line, span, cellsEnd } = record;
      const cells = rows[index++]!;
      const isText = areText || isUtf8(bytes.subarray(span.start - start, cellsEnd - start));
      if (!isText) return badRecord(row, line, NOT_TEXT);
      return { row, line, span, content: new TableRow(this.#header!, cells), error: null };
    });
  }

  /** Scans to the end of the row, of the piece or of the limit, whichever comes first. */
  #step(): void {
    if (this.#isStopped) {
      this.#at = this.#rowStart = this.#window.end;
      return;
    }
    if (this.#isSkippingLine) {
      this.#skipLine();
      return;
    }
    if (this.#at === this.#rowStart && !this.#skipBreaks()) return;
    const piece = this.#window.pieceFrom(this.#at);
    const left = this.#isTooLong ? Infinity : this.#rowStart + this.#limit - this.#at;
    if (left === 0) {
      this.#exceedLimit();
      return;
    }
    const bytes = left < piece.length ? piece.subarray(0, left) : piece;
    const end = this.#framer.scan(bytes);
    this.#at += end < 0 ? bytes.length : end;
    if (end < 0) return;
    if (this.#framer.fault === null) this.#finishRow();
    else this.#giveUp(this.#framer.fault === 'misquoted' ? MISQUOTED : UNCLOSED_ON_LINE);
  }

  #exceedLimit(): void {
    this.#isSecondARow = this.#isJoined();
    this.#isTooLong = true;
  }

  #finishRow(): void {
    const { cells, breaks } = this.#framer;
    if (breaks > 0 && this.#header?.fits(this.#framer) === false) {
      if (this.#isTooLong ? this.#isSecondARow : this.#isJoined()) {
        this.#giveUp(wrongFieldCount(cells, this.#columns()));
        return;
      }
    }
    if (this.#isTooLong) this.#refuse(rowTooLarge(this.#at - this.#rowStart, this.#limit));
    else if (breaks > 0 && this.#header === null && this.#isHeaderJoined()) return;
    else if (!this.#isBlank()) this.#accept();
    this.#nextRow(breaks + 1);
  }

  /** Whether a stray quote seems to have joined several rows into this one, because its second line is a row. */
  #isJoined(): boolean {
    const { secondLine } = this.#framer;
    if (secondLine < 0 || this.#header === null) return false;
    return this.#strays.isRow(this.#window.slice(this.#rowStart + secondLine, this.#at), this.#header);
  }

  /**
   * Whether a stray quote seems to have joined rows to the header. If so, its first line becomes the header, and is
   * reported as a bad record.
   */
  #isHeaderJoined(): boolean {
    if (!this.#dialect.header) return false;
    const { secondLine, cells } = this.#framer;
    const second = this.#rowStart + secondLine;
    const first = this.#window.slice(this.#rowStart, second - 1);
    const names = this.#strays.namesIn(first, this.#window.slice(second, this.#at), cells);
    if (names === null) return false;
    this.#header = TableHeader.fitted(names, this.#dialect.width);
    this.#giveUp(UNCLOSED_IN_HEADER);
    return true;
  }

  #accept(): void {
    const { cells, end } = this.#framer;
    const cellsEnd = this.#rowStart + end;
    const { header, width } = this.#dialect;
    if (this.#header === null) {
      if (cells > MAX_COLUMNS) {
        this.#refuse(tooManyColumns(cells, MAX_COLUMNS));
        return;
      }
      if (header) {
        const names = splitRow(this.#window.slice(this.#rowStart, cellsEnd), this.#dialect);
        this.#header = TableHeader.fitted(names, width);
        this.#bodyStart = this.#at;
        this.#isHeaderDoubtful = this.#framer.breaks > 0 || names.join('').trim().includes('\r');
        return;
      }
      this.#header = TableHeader.byPosition(width?.cells ?? cells);
      this.#bodyStart = this.#rowStart;
    }
    if (!this.#header.fits(this.#framer)) {
      this.#refuse(wrongFieldCount(cells, this.#columns()));
      return;
    }
    this.#isHeaderDoubtful = false;
    const span = { start: this.#rowStart, end: this.#at };
    this.#records.push({ row: ++this.#row, line: this.#line, span, cellsEnd });
  }

  /** Whether the row is a blank line or the DOS end-of-file character. */
  #isBlank(): boolean {
    const { cells, filled, isQuoted, end } = this.#framer;
    if (cells !== 1 || isQuoted) return false;
    const first = this.#window.pieceFrom(this.#rowStart)[0]!;
    if (first > 0x20 && first < 0x80) return false;
    const text = this.#window
      .slice(this.#rowStart, this.#rowStart + end)
      .toString()
      .trim();
    // In a table with one column, a line of white space is a row.
    return text === DOS_EOF || (text === '' && (filled === 0 || this.#columns() !== 1));
  }

  /** Reports the current row as bad and resumes on its second line, or after the current line if there is none. */
  #giveUp(error: ItemError): void {
    const { secondLine, breaks, fault } = this.#framer;
    const second = this.#rowStart + secondLine;
    const isLost = this.#isTooLong && fault !== 'unclosed';
    const isForward = secondLine < 0 || (isLost && this.#rereads === MAX_REREADS);
    this.#refuse(isForward && breaks > 0 ? withUnread(error, this.#at - this.#rowStart) : error);
    if (isForward) {
      // Otherwise the row ended with a line break, or with the file.
      this.#isSkippingLine = fault === 'misquoted';
      this.#nextRow(breaks + (this.#isSkippingLine ? 0 : 1));
    } else if (isLost) {
      this.#rereads++;
      // Includes the line break, which shows whether an LF belongs to a CR.
      this.#resumeAt = this.#at = second - 1;
      this.#nextRow(0);
    } else {
      this.#strays.goBack(second, this.#at);
      this.#at = second;
      this.#nextRow(1);
    }
  }

  /** Reports the current row as a bad record. A bad header is reported at the end, with the size of the file. */
  #refuse(error: ItemError): void {
    if (this.#header === null && this.#dialect.header) this.#headerError = error;
    else this.#records.push(badRecord(++this.#row, this.#line, error));
  }

  /** Starts a row at the current offset, `lines` lines below the start of the previous one. */
  #nextRow(lines: number): void {
    this.#line += lines;
    this.#afterCr = this.#endsWithCr && this.#window.indexOf(CR, this.#at - 1, this.#at) >= 0;
    this.#rowStart = this.#at;
    this.#isTooLong = false;
    this.#framer.begin(
      this.#header === null ? MAX_COLUMNS : this.#columns(),
      this.#strays.isLinewise(this.#rowStart),
    );
  }

  #columns(): number {
    return this.#header?.names.length ?? 0;
  }

  /** Skips the rest of the line. */
  #skipLine(): void {
    const piece = this.#window.pieceFrom(this.#at);
    const end = this.#endsWithCr ? piece.findIndex((byte) => this.#isBreak(byte)) : piece.indexOf(LF);
    this.#at += end < 0 ? piece.length : end + 1;
    this.#rowStart = this.#at;
    if (end < 0) return;
    this.#isSkippingLine = false;
    this.#nextRow(1);
  }

  /** Skips the line breaks before a row; false if nothing else is buffered. */
  #skipBreaks(): boolean {
    const piece = this.#window.pieceFrom(this.#at);
    let at = 0;
    for (; at < piece.length; at++) {
      const byte = piece[at]!;
      if (!this.#isBreak(byte)) break;
      if (byte === CR || !this.#afterCr) this.#line++;
      this.#afterCr = byte === CR;
    }
    this.#at += at;
    this.#rowStart = this.#at;
    return at < piece.length;
  }

  #isBreak(byte: number): boolean {
    return byte === LF || (byte === CR && this.#endsWithCr);
  }
}
