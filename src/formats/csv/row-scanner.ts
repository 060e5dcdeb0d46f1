import type { CsvDialect } from './csv-dialect.ts';

const QUOTE = 0x22;
const LF = 0x0a;
const CR = 0x0d;

/**
 * Scanner states. `quote`: after a quote in a quoted cell, which closes the cell unless a second quote follows (an
 * escaped quote). `closed`: after the closing quote. `line end`: after a quoted cell and CRs; only more CRs or an LF may
 * follow.
 */
type State = 'cell start' | 'plain' | 'quoted' | 'quote' | 'closed' | 'line end';

/** Numbers stored per cell: start offset, end offset, and whether it has escaped quotes. */
const NUMBERS_PER_CELL = 3;

/**
 * Finds the cells of one row of a table (RFC 4180), whose bytes may arrive in pieces. A quote opens a quoted cell only as
 * the cell's first byte; elsewhere in an unquoted cell it is data. Stores three numbers per cell, for as many cells as
 * the caller asks for.
 */
export class RowScanner {
  readonly #delimiter: number;
  readonly #endsWithCr: boolean;
  #state: State = 'cell start';
  #cells: number[] = [];
  #maxCells = 0;
  #count = 0;
  #from = 0;
  #closedAt = 0;
  #isEscaped = false;
  #isQuoted = false;
  #isMisquoted = false;
  #breaks = 0;
  #afterCr = false;

  constructor({ delimiter, lineBreak }: CsvDialect) {
    this.#delimiter = delimiter.charCodeAt(0);
    this.#endsWithCr = lineBreak === '\r';
  }

  /** Number of cells found. */
  get count(): number {
    return this.#count;
  }

  /** Line breaks inside the quoted cells found. */
  get breaks(): number {
    return this.#breaks;
  }

  /** Whether a quoted cell is open. */
  get isInQuotes(): boolean {
    return this.#state === 'quoted';
  }

  /** Offset of the current cell in the row, after its opening quote. */
  get cellStart(): number {
    return this.#from;
  }

  /** Whether any cell is quoted. */
  get isQuoted(): boolean {
    return this.#isQuoted;
  }

  /** Whether scanning stopped because a quoted cell continues after its closing quote. */
  get isMisquoted(): boolean {
    return this.#isMisquoted;
  }

  /** Starts a row, of which the first `maxCells` cells are stored. */
  begin(maxCells: number): void {
    this.#state = 'cell start';
    this.#cells.length = 0;
    this.#maxCells = maxCells;
    this.#count = this.#breaks = 0;
    this.#isEscaped = this.#isQuoted = this.#isMisquoted = this.#afterCr = false;
  }

  /**
   * Scans more bytes, which start at `offset` in the row. Returns the index after the row's line break, or of the byte
   * after a misplaced closing quote (see `isMisquoted`); -1 if the row continues after the bytes.
   */
  scan(bytes: Buffer, offset: number): number {
    const { length } = bytes;
    let at = 0;
    while (at < length) {
      switch (this.#state) {
        case 'cell start':
          this.#isEscaped = false;
          if (bytes[at] === QUOTE) {
            this.#state = 'quoted';
            this.#isQuoted = true;
            this.#afterCr = false;
            this.#from = offset + ++at;
          } else {
            this.#from = offset + at;
            if (bytes[at] === this.#delimiter) this.#addCell(offset + at++);
            else this.#state = 'plain';
          }
          break;
        case 'plain': {
          at = this.#plainEnd(bytes, at);
          if (at === length) return -1;
          this.#addCell(offset + at);
          if (bytes[at++] !== this.#delimiter) return at;
          break;
        }
        case 'quoted': {
          const quote = bytes.indexOf(QUOTE, at);
          this.#countBreaks(bytes, at, quote < 0 ? length : quote);
          if (quote < 0) return -1;
          this.#closedAt = offset + quote;
          this.#state = 'quote';
          at = quote + 1;
          break;
        }
        case 'quote':
          if (bytes[at] === QUOTE) {
            this.#isEscaped = true;
            this.#afterCr = false;
            this.#state = 'quoted';
            at++;
          } else {
            this.#state = 'closed';
          }
          break;
        case 'closed':
        case 'line end': {
          const byte = bytes[at]!;
          const isDelimiter = byte === this.#delimiter && this.#state === 'closed';
          if (!isDelimiter && byte !== LF && byte !== CR) {
            this.#isMisquoted = true;
            return at;
          }
          at++;
          if (byte === CR && !this.#endsWithCr) {
            this.#state = 'line end';
            break;
          }
          this.#addCell(this.#closedAt);
          if (!isDelimiter) return at;
        }
      }
    }
    return -1;
  }

  /** Ends the row at the end of the file, at `offset` in the row. False if a quoted cell is still open. */
  finish(offset: number): boolean {
    if (this.#state === 'quoted') return false;
    if (this.#state === 'cell start') this.#from = offset;
    this.#addCell(this.#state === 'cell start' || this.#state === 'plain' ? offset : this.#closedAt);
    return true;
  }

  /** Texts of the stored cells; `row` is the bytes of the row. */
  texts(row: Buffer): string[] {
    const texts: string[] = [];
    const cells = this.#cells;
    for (let index = 0; index < cells.length; index += NUMBERS_PER_CELL) {
      const text = row.toString('utf8', cells[index], cells[index + 1]);
      texts.push(cells[index + 2] === 0 ? text : text.replaceAll('""', '"'));
    }
    if (!this.#endsWithCr) this.#trimCr(texts, row);
    return texts;
  }

  /** Removes CRs before the LF that ends the row from its last cell, unless they are inside its quotes. */
  #trimCr(texts: string[], row: Buffer): void {
    const cells = this.#cells;
    if (cells.length !== this.#count * NUMBERS_PER_CELL || row.at(-1) !== LF) return;
    const from = cells.at(-NUMBERS_PER_CELL)!;
    let end = cells.at(1 - NUMBERS_PER_CELL)!;
    if (row[end] !== LF || row[end - 1] !== CR) return;
    while (end > from && row[end - 1] === CR) end--;
    texts[texts.length - 1] = row.toString('utf8', from, end);
  }

  #plainEnd(bytes: Buffer, from: number): number {
    const { length } = bytes;
    const delimiter = this.#delimiter;
    const endsWithCr = this.#endsWithCr;
    let at = from;
    for (; at < length; at++) {
      const byte = bytes[at]!;
      if (byte === delimiter || byte === LF || (byte === CR && endsWithCr)) break;
    }
    return at;
  }

  #addCell(end: number): void {
    if (this.#count++ < this.#maxCells) this.#cells.push(this.#from, end, this.#isEscaped ? 1 : 0);
    this.#state = 'cell start';
  }

  #countBreaks(bytes: Buffer, from: number, to: number): void {
    for (let at = from; at < to; at++) {
      const byte = bytes[at];
      const isBreak = byte === LF ? !this.#afterCr : byte === CR && this.#endsWithCr;
      if (isBreak) this.#breaks++;
      this.#afterCr = byte === CR && this.#endsWithCr;
    }
  }
}
