import type { ByteWindow } from '../byte-window.ts';
import type { CsvDialect } from './csv-dialect.ts';
import { CR, LineBreaks } from './line-breaks.ts';
import { RowScanner } from './row-scanner.ts';

/** Limit on rescanned bytes, as a multiple of the bytes before them plus the row limit: keeps reading linear. */
const MAX_RESCANS = 4;

/**
 * Distinguishes rows joined by a stray quote from a cell of several lines, and limits rescanning because of such quotes.
 * Once the limit is exceeded, rows in the part scanned so far may not span lines.
 */
export class StrayQuotes {
  readonly #probe: RowScanner;
  readonly #lineBreaks: LineBreaks;
  readonly #limit: number;
  #rescanned = 0;
  #linewiseUntil = 0;

  /** `limit` is the maximum number of bytes in a row. */
  constructor(dialect: CsvDialect, limit: number) {
    this.#limit = limit;
    this.#probe = new RowScanner(dialect);
    this.#lineBreaks = new LineBreaks(dialect);
  }

  /** Whether a row that starts at `offset` must end on the same line. */
  isLinewise(offset: number): boolean {
    return offset < this.#linewiseUntil;
  }

  /** Records that the bytes from `offset` to `reached` will be rescanned. */
  goBack(offset: number, reached: number): void {
    this.#rescanned += reached - offset;
    if (this.#rescanned > MAX_RESCANS * (offset + this.#limit))
      this.#linewiseUntil = Math.max(this.#linewiseUntil, reached);
  }

  /** Whether the line at `from` is by its cells a complete row of a table with several columns. */
  isRow(window: ByteWindow, from: number, to: number, columns: number): boolean {
    const end = this.#lineBreaks.find(window, from, to);
    return columns > 1 && this.#isCompleteRow(window.slice(from, end < 0 ? to : end), columns);
  }

  /**
   * The column names in the first line of a header that a stray quote seems to have joined from several lines: that line
   * and the next non-blank line have as many cells as the whole header. Null for any other header.
   */
  namesIn(window: ByteWindow, from: number, second: number, to: number, columns: number): string[] | null {
    let start = second;
    let end = this.#lineBreaks.find(window, start, to);
    while (end >= 0 && isBlank(window.slice(start, end))) {
      start = end + 1;
      end = this.#lineBreaks.find(window, start, to);
    }
    if (!this.#isCompleteRow(window.slice(start, end < 0 ? to : end), columns)) return null;
    const line = window.slice(from, this.#lineBreaks.find(window, from, second));
    this.#probe.begin(0);
    this.#probe.scan(line, 0);
    const quote = this.#probe.cellStart - 1;
    const whole = Buffer.concat([line.subarray(0, quote), line.subarray(quote + 1)]);
    this.#probe.begin(columns);
    const isWhole = this.#probe.scan(whole, 0) < 0 && this.#probe.finish(whole.length);
    return isWhole && this.#probe.count === columns ? this.#probe.texts(whole) : null;
  }

  #isCompleteRow(line: Buffer, columns: number): boolean {
    this.#probe.begin(0);
    const isWhole = this.#probe.scan(line, 0) < 0 && this.#probe.finish(line.length);
    return isWhole && this.#probe.count === columns;
  }
}

function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte === 0x20 || byte === CR);
}
