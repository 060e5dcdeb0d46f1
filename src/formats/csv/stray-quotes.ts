import type { CsvDialect } from './csv-dialect.ts';
import { RowFramer, splitRow } from './row-framer.ts';
import type { TableHeader } from './table-row.ts';

const SPACE = 0x20;
const LF = 0x0a;
const CR = 0x0d;

/** Limit on rescanned bytes, as a multiple of the bytes scanned so far. Keeps reading linear. */
const MAX_RESCANS = 8;

/**
 * Distinguishes rows joined by a stray quote from a cell with several lines, and limits rescanning because of such
 * quotes. Once the limit is exceeded, rows in the part scanned so far must not span lines.
 */
export class StrayQuotes {
  readonly #dialect: CsvDialect;
  readonly #probe: RowFramer;
  #rescanned = 0;
  #linewiseUntil = 0;

  constructor(dialect: CsvDialect) {
    this.#dialect = dialect;
    this.#probe = new RowFramer(dialect);
  }

  /** Whether a row that starts at `offset` must end on the same line. */
  isLinewise(offset: number): boolean {
    return offset < this.#linewiseUntil;
  }

  /** Records that the bytes from `offset` to `reached` will be rescanned. */
  goBack(offset: number, reached: number): void {
    this.#rescanned += reached - offset;
    if (this.#rescanned > MAX_RESCANS * reached) this.#linewiseUntil = Math.max(this.#linewiseUntil, reached);
  }

  /** Whether the first of the lines is a complete row of a table with several columns, judging by its cells. */
  isRow(lines: Buffer, header: TableHeader): boolean {
    return header.names.length > 1 && this.#isLine(lines) && header.fits(this.#probe);
  }

  /**
   * Returns the column names in the first line of a header with `cells` cells that a stray quote seems to have joined
   * from several lines: that line and the next non-blank one of `below` have as many cells as the whole header. Null
   * for any other header.
   */
  namesIn(first: Buffer, below: Buffer, cells: number): string[] | null {
    let next = below.findIndex((byte) => byte !== SPACE && byte !== LF && byte !== CR);
    while (below[next - 1] === SPACE) next--;
    if (next < 0 || !this.#isLine(below.subarray(next)) || this.#probe.cells !== cells) return null;
    this.#isLine(first);
    const quote = this.#probe.openedAt;
    const whole = Buffer.concat([first.subarray(0, quote), first.subarray(quote + 1)]);
    if (!this.#isLine(whole) || this.#probe.cells !== cells) return null;
    return splitRow(whole.subarray(0, this.#probe.end), this.#dialect);
  }

  /** Whether the first line is a complete row on its own. */
  #isLine(lines: Buffer): boolean {
    this.#probe.begin(Infinity, true);
    const end = this.#probe.scan(lines);
    return this.#probe.fault === null && (end >= 0 || this.#probe.finish());
  }
}
