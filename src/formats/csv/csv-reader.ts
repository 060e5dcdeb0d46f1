import { isUtf8 } from 'node:buffer';
import { itemError, type ItemError } from '../../domain/item-error.ts';
import { plural } from '../../domain/text/plural.ts';
import { ByteWindow } from '../byte-window.ts';
import { REPLACEMENT } from '../encoding/validity.ts';
import { BATCH_BYTES, badRecord, type RecordBatch, type RecordReader, type SourceRecord } from '../record.ts';
import type { CsvDialect } from './csv-dialect.ts';
import { RowScanner } from './row-scanner.ts';
import { StrayQuotes } from './stray-quotes.ts';
import { TableHeader, TableRow } from './table-row.ts';

const LF = 0x0a;
const CR = 0x0d;

/** The end-of-file mark of DOS. */
const DOS_END = '\u001a';

/** More columns than any table we know. */
const MAX_COLUMNS = 65_536;

/** Instead of the offset of a row's second line: not found yet. */
const UNKNOWN = -1;

/** How often a file is read once more, since each time it has to be read from its beginning. */
const MAX_READINGS = 3;

/**
 * Reads the rows of a delimited table (RFC 4180, any of the usual delimiters). A row that breaks the rules is one bad
 * record, and reading goes on at the physical line after the one it begins on, so that a quote that is never closed
 * costs its own row and not the rest of the file.
 *
 * Holds the bytes of the current row, up to `limit` and one piece. Of a longer row it holds as much from the second
 * line on, to read that again should a stray quote turn out to have opened a cell; later than that, it asks for those
 * bytes again.
 */
export class CsvReader implements RecordReader {
  readonly #dialect: CsvDialect;
  readonly #limit: number;
  readonly #endsWithCr: boolean;
  #window = new ByteWindow();
  readonly #scanner: RowScanner;
  readonly #strays: StrayQuotes;
  /** Offset of the next byte to be scanned. */
  #at = 0;
  #rowStart = 0;
  #line = 1;
  #row = 0;
  #header: TableHeader | null = null;
  /** The header's bytes hold line breaks, and no row of as many cells has followed it. */
  #isHeaderDoubtful = false;
  /** Whether the last byte before the row is a CR that ends a line, so that an LF adds nothing to it. */
  #afterCr = false;
  /** Whether the bytes up to the next line break belong to a row that is settled, or to none. */
  #isSkippingLine: boolean;
  /** The row is longer than the limit: its bytes are passed over. */
  #isTooLong = false;
  /** Of a row that is too long, the offset of its second line. */
  #secondLine = UNKNOWN;
  /** Whether that line is not held any more, and whether it was a whole row. */
  #isGone = false;
  #isSecondARow = false;
  /** Of a row that was given up, the offset of the second line: nothing is read until it is given again. */
  #wanted: number | null = null;
  #again: number | null = null;
  #readings = 0;
  /** Why the header cannot be read: then nothing after it can be. */
  #headless: ItemError | null = null;

  constructor(dialect: CsvDialect, limit: number) {
    this.#dialect = dialect;
    this.#limit = limit;
    this.#endsWithCr = dialect.lineBreak === '\r';
    this.#isSkippingLine = dialect.namesDelimiter;
    this.#scanner = new RowScanner(dialect);
    this.#strays = new StrayQuotes(dialect, limit);
    this.#scanner.begin(MAX_COLUMNS);
  }

  /** Null until the header was read, and for good when it cannot be. */
  get header(): TableHeader | null {
    return this.#header;
  }

  /** Whether the header was found to be unreadable. */
  get isHeadless(): boolean {
    return this.#headless !== null;
  }

  get again(): number | null {
    return this.#again;
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
    this.#again = this.#headless === null ? this.#wanted : null;
    this.#wanted = null;
    if (this.#again !== null) {
      this.#window = new ByteWindow(this.#again);
      this.#at = this.#rowStart = this.#again;
      return;
    }
    const error = this.#headerProblem();
    if (error !== null) yield [badRecord(++this.#row, 1, error)];
  }

  /** What is wrong with a header when the file is at its end. */
  #headerProblem(): ItemError | null {
    if (this.#headless !== null) {
      const { code, message } = this.#headless;
      return itemError(
        code,
        `the header cannot be read, nor the ${this.#window.end} bytes of the file: ${message}`,
      );
    }
    // A quote may have made a header of the rows: a table that has lines never comes to nothing in silence.
    if (!this.#isHeaderDoubtful) return null;
    return itemError(
      'MALFORMED_ROW',
      'the header runs over several lines and no row of its width follows it',
    );
  }

  /** Whether nothing more is read, or not until it is given again. */
  get #isStopped(): boolean {
    return this.#wanted !== null || this.#headless !== null;
  }

  *#read(): Generator<RecordBatch, void> {
    let records: SourceRecord[] = [];
    let batchStart = this.#at;
    while (this.#at < this.#window.end) {
      this.#step(records);
      // Going back to a line that was scanned before ends a batch, too.
      if (this.#at >= batchStart && this.#at - batchStart < BATCH_BYTES) continue;
      if (records.length > 0) yield records;
      records = [];
      batchStart = this.#at;
      this.#window.dropBefore(this.#needed());
    }
    this.#window.dropBefore(this.#needed());
    if (records.length > 0) yield records;
  }

  /** Offset of the first byte that may be needed again. */
  #needed(): number {
    if (!this.#isTooLong) return this.#rowStart;
    // One byte more tells whether an LF belongs to a CR.
    return this.#secondLine >= 0 && !this.#isGone ? this.#secondLine - 1 : this.#at;
  }

  /** Scans on to the end of the row, of the piece, or of what may be scanned of a row. */
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
    } else if (this.#strays.isLinewise(this.#rowStart) && this.#endsLine(bytes)) {
      this.#giveUp(
        itemError('MALFORMED_ROW', 'a quote is opened and not closed on its line'),
        this.#at,
        records,
      );
    } else if (this.#isTooLong && this.#secondLine === UNKNOWN && this.#endsLine(bytes)) {
      this.#secondLine = this.#at;
    }
  }

  /** The bytes at hand, up to where something has to be decided before more of them are scanned. */
  #scannable(): Buffer {
    const piece = this.#window.pieceFrom(this.#at);
    if (this.#strays.isLinewise(this.#rowStart) || (this.#isTooLong && this.#secondLine === UNKNOWN)) {
      const lineBreak = this.#breakIn(piece);
      if (lineBreak >= 0) return this.#bounded(piece.subarray(0, lineBreak + 1));
    }
    return this.#bounded(piece);
  }

  #bounded(bytes: Buffer): Buffer {
    if (this.#isGone || (this.#isTooLong && this.#secondLine === UNKNOWN)) return bytes;
    const from = this.#isTooLong ? this.#secondLine : this.#rowStart;
    const left = from + this.#limit - this.#at;
    return left < bytes.length ? bytes.subarray(0, left) : bytes;
  }

  /** The row, or what is held of one that is too long, has reached the limit. */
  #atBound(): void {
    if (!this.#isTooLong) {
      this.#isTooLong = true;
      this.#secondLine = this.#lineAfter(this.#rowStart);
    } else {
      this.#isSecondARow = this.#strays.isRow(this.#window, this.#secondLine, this.#at, this.#columns());
      this.#isGone = true;
    }
  }

  #finishRow(records: SourceRecord[]): void {
    const { breaks } = this.#scanner;
    const second = this.#joinedLine();
    if (second >= 0) {
      this.#giveUp(this.#raggedness(), second, records);
      return;
    }
    if (this.#isTooLong) this.#refuse(this.#tooLarge(), records);
    else if (breaks > 0 && this.#header === null && this.#isHeaderJoined(records)) return;
    else if (!this.#isBlank()) this.#accept(records);
    this.#nextRow(breaks + 1);
  }

  /** The second line of a row that a stray quote seems to have made of several; UNKNOWN for any other row. */
  #joinedLine(): number {
    const { count, breaks } = this.#scanner;
    const columns = this.#columns();
    if (breaks === 0 || count === columns || columns < 2) return UNKNOWN;
    const second = this.#isTooLong ? this.#secondLine : this.#lineAfter(this.#rowStart);
    if (second === UNKNOWN) return UNKNOWN;
    const isRow = this.#isGone
      ? this.#isSecondARow
      : this.#strays.isRow(this.#window, second, this.#at, columns);
    return isRow ? second : UNKNOWN;
  }

  /** Whether a stray quote seems to have joined rows to the header. Then its first line is the header, and is bad. */
  #isHeaderJoined(records: SourceRecord[]): boolean {
    const second = this.#lineAfter(this.#rowStart);
    if (!this.#dialect.header || second === UNKNOWN) return false;
    const names = this.#strays.namesIn(this.#window, this.#rowStart, second, this.#at, this.#scanner.count);
    if (names === null) return false;
    this.#header = new TableHeader(names);
    this.#giveUp(
      itemError('MALFORMED_ROW', 'a quote is opened in the header and not closed on its line'),
      second,
      records,
    );
    return true;
  }

  #accept(records: SourceRecord[]): void {
    const { count } = this.#scanner;
    const row = this.#window.slice(this.#rowStart, this.#at);
    if (this.#header === null) {
      if (count > MAX_COLUMNS) {
        this.#refuse(
          itemError('MALFORMED_ROW', `the first row has ${count} ${plural(count, 'field')}`),
          records,
        );
        return;
      }
      if (this.#dialect.header) {
        this.#header = new TableHeader(this.#scanner.texts(row));
        this.#isHeaderDoubtful = /[\r\n]/.test(row.toString('latin1').trim());
        return;
      }
      this.#header = TableHeader.byPosition(count);
    }
    if (count !== this.#columns()) {
      this.#refuse(this.#raggedness(), records);
      return;
    }
    this.#isHeaderDoubtful = false;
    records.push(this.#record(this.#header, row));
  }

  #raggedness(): ItemError {
    const { count } = this.#scanner;
    return itemError(
      'MALFORMED_ROW',
      `the row has ${count} ${plural(count, 'field')} where the table has ${this.#columns()}`,
    );
  }

  #record(header: TableHeader, bytes: Buffer): SourceRecord {
    const row = ++this.#row;
    const line = this.#line;
    const cells = this.#scanner.texts(bytes);
    const suspect = cells.some((cell) => cell.includes(REPLACEMENT));
    if (suspect && !isUtf8(bytes)) {
      return badRecord(row, line, itemError('INVALID_ENCODING', 'the row holds bytes that are not text'));
    }
    return { row, line, content: new TableRow(header, cells), error: null };
  }

  /** Whether a row of one cell stands for nothing: a blank line, or the mark that ends the file. */
  #isBlank(): boolean {
    if (this.#scanner.count !== 1 || this.#scanner.isQuoted) return false;
    const first = this.#window.pieceFrom(this.#rowStart)[0]!;
    if (first > 0x20 && first < 0x80) return false;
    const cell = this.#scanner.texts(this.#window.slice(this.#rowStart, this.#at))[0]!;
    // In a table of one column, white space is a row with a blank cell.
    const text = this.#columns() === 1 ? cell : cell.trim();
    return text === '' || text === DOS_END;
  }

  /** A quoted cell goes on after its closing quote. */
  #misquoted(records: SourceRecord[]): void {
    const second = this.#isTooLong ? this.#secondLine : this.#lineAfter(this.#rowStart);
    this.#giveUp(itemError('MALFORMED_ROW', 'a quote stands where none may be'), second, records);
  }

  /** The file ends inside a quoted cell. */
  #endInQuotes(records: SourceRecord[]): void {
    const second = this.#isTooLong ? this.#secondLine : this.#lineAfter(this.#rowStart);
    this.#giveUp(itemError('MALFORMED_ROW', 'a quote is opened and never closed'), second, records);
  }

  /** Settles the current row with an error and goes to its second line; to the end of the current line without one. */
  #giveUp(error: ItemError, secondLine: number, records: SourceRecord[]): void {
    if (secondLine === UNKNOWN || (this.#isGone && this.#readings === MAX_READINGS)) {
      const lost = this.#scanner.breaks > 0 ? `: ${this.#at - this.#rowStart} bytes were not read` : '';
      this.#refuse(itemError(error.code, error.message + lost), records);
      // A row whose end was found leaves no rest of a line behind.
      this.#isSkippingLine = this.#scanner.isMisquoted;
      this.#nextRow(this.#scanner.breaks + (this.#isSkippingLine ? 0 : 1));
      return;
    }
    this.#refuse(error, records);
    if (this.#isGone) {
      this.#readings++;
      // From the line break on, which tells whether an LF belongs to a CR.
      this.#wanted = this.#at = secondLine - 1;
      this.#nextRow(0);
    } else {
      this.#strays.goBack(secondLine, this.#at);
      this.#at = secondLine;
      this.#nextRow(1);
    }
  }

  /** Makes a bad record of the current row. Nothing is read without a header, and how much that is shows at the end. */
  #refuse(error: ItemError, records: SourceRecord[]): void {
    if (this.#header === null && this.#dialect.header) {
      this.#headless = error;
      return;
    }
    records.push(badRecord(++this.#row, this.#line, error));
  }

  #tooLarge(): ItemError {
    const bytes = this.#at - this.#rowStart;
    return itemError('ITEM_TOO_LARGE', `the row has ${bytes} bytes of at most ${this.#limit}`);
  }

  /** Begins the row at the current offset, `lines` below the last one. */
  #nextRow(lines: number): void {
    this.#line += lines;
    this.#afterCr = this.#endsWithCr && this.#window.indexOf(CR, this.#at - 1, this.#at) >= 0;
    this.#rowStart = this.#at;
    this.#isTooLong = this.#isGone = false;
    this.#secondLine = UNKNOWN;
    this.#scanner.begin(this.#header === null ? MAX_COLUMNS : this.#columns());
  }

  #columns(): number {
    return this.#header?.names.length ?? 0;
  }

  /** Goes to the next line, or on to the end of the piece, when that line has not come yet. */
  #skipLine(): void {
    const piece = this.#window.pieceFrom(this.#at);
    const lineBreak = this.#breakIn(piece);
    this.#at += lineBreak < 0 ? piece.length : lineBreak + 1;
    this.#rowStart = this.#at;
    if (lineBreak < 0) return;
    this.#isSkippingLine = false;
    this.#nextRow(1);
  }

  /** Skips the line breaks before a row; false when nothing else is held. */
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

  /** Offset of the line that follows the one at `from`; UNKNOWN when it has not come. */
  #lineAfter(from: number): number {
    const lf = this.#window.indexOf(LF, from, this.#at);
    const cr = this.#endsWithCr ? this.#window.indexOf(CR, from, lf < 0 ? this.#at : lf) : -1;
    const first = cr >= 0 ? cr : lf;
    return first < 0 ? UNKNOWN : first + 1;
  }

  /** Index of the first line break in bytes; -1 when there is none. */
  #breakIn(bytes: Buffer): number {
    if (!this.#endsWithCr) return bytes.indexOf(LF);
    return bytes.findIndex((byte) => byte === LF || byte === CR);
  }

  #endsLine(bytes: Buffer): boolean {
    const last = bytes.at(-1);
    return last === LF || (last === CR && this.#endsWithCr);
  }
}
