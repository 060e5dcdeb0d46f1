import type { ByteWindow } from '../byte-window.ts';
import type { CsvDialect } from './csv-dialect.ts';
import { RowScanner } from './row-scanner.ts';

/** What may be scanned again after rows that were given up, in files and in longest rows: keeps the whole linear. */
const RESCANS = 4;

const LF = 0x0a;
const CR = 0x0d;

/**
 * Tells rows that a stray quote joined from a cell of several lines, and bounds what is read again because of such
 * quotes: beyond the bound, no cell runs on to another line in what was scanned before.
 */
export class StrayQuotes {
  readonly #probe: RowScanner;
  readonly #endsWithCr: boolean;
  readonly #limit: number;
  #rescanned = 0;
  #linewiseUntil = 0;

  /** `limit`: of bytes in a row. */
  constructor(dialect: CsvDialect, limit: number) {
    this.#limit = limit;
    this.#probe = new RowScanner(dialect);
    this.#endsWithCr = dialect.lineBreak === '\r';
  }

  /** Whether a row that begins at an offset has to end on its line. */
  isLinewise(offset: number): boolean {
    return offset < this.#linewiseUntil;
  }

  /** Notes that what was scanned up to `reached` is read again from `offset` on. */
  goBack(offset: number, reached: number): void {
    this.#rescanned += reached - offset;
    if (this.#rescanned > RESCANS * (offset + this.#limit))
      this.#linewiseUntil = Math.max(this.#linewiseUntil, reached);
  }

  /** Whether the line that begins at `from` is a whole row of a table of several columns. */
  isRow(window: ByteWindow, from: number, to: number, columns: number): boolean {
    const end = this.#lineEnd(window, from, to);
    return columns > 1 && this.#isSound(window.slice(from, end < 0 ? to : end), columns);
  }

  /**
   * The column names in the first line of a header of several lines, when a stray quote seems to have joined these: when
   * that line and the next one that is not blank are as many cells each as the whole. Null for any other header.
   */
  namesIn(window: ByteWindow, from: number, second: number, to: number, columns: number): string[] | null {
    let start = second;
    let end = this.#lineEnd(window, start, to);
    while (end >= 0 && isBlank(window.slice(start, end))) {
      start = end + 1;
      end = this.#lineEnd(window, start, to);
    }
    if (!this.#isSound(window.slice(start, end < 0 ? to : end), columns)) return null;
    const line = window.slice(from, this.#lineEnd(window, from, second));
    this.#probe.begin(0);
    this.#probe.scan(line, 0);
    const quote = this.#probe.cellStart - 1;
    const whole = Buffer.concat([line.subarray(0, quote), line.subarray(quote + 1)]);
    this.#probe.begin(columns);
    const isWhole = this.#probe.scan(whole, 0) < 0 && this.#probe.finish(whole.length);
    return isWhole && this.#probe.count === columns ? this.#probe.texts(whole) : null;
  }

  #isSound(line: Buffer, columns: number): boolean {
    this.#probe.begin(0);
    const isWhole = this.#probe.scan(line, 0) < 0 && this.#probe.finish(line.length);
    return isWhole && this.#probe.count === columns;
  }

  /** Offset of the line break that ends the line at `from`; -1 when there is none before `to`. */
  #lineEnd(window: ByteWindow, from: number, to: number): number {
    const lf = window.indexOf(LF, from, to);
    const cr = this.#endsWithCr ? window.indexOf(CR, from, lf < 0 ? to : lf) : -1;
    return cr < 0 ? lf : cr;
  }
}

function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte === 0x20 || byte === CR);
}
