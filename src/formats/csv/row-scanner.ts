import type { CsvDialect } from './csv-dialect.ts';

const QUOTE = 0x22;
const LF = 0x0a;
const CR = 0x0d;

/**
 * Where in a row the scanner stands. Behind a `quote` in a quoted cell: it ends the cell, or the next one makes a quote
 * of the two. `closed`: at the end of a quoted cell. At a `line end`: behind a quoted cell and CRs, which only an LF
 * may follow.
 */
type Place = 'cell start' | 'plain' | 'quoted' | 'quote' | 'closed' | 'line end';

/** Numbers kept for a cell: its first byte, the one after its last, and whether it holds doubled quotes. */
const PER_CELL = 3;

/**
 * Finds the cells of one row of a table (RFC 4180) in its bytes, which may come in pieces. A quote is special only as
 * the first byte of a cell; elsewhere in a cell without quotes it is data. Keeps three numbers a cell, of so many
 * cells as its caller has a use for.
 */
export class RowScanner {
  readonly #delimiter: number;
  readonly #endsWithCr: boolean;
  #at: Place = 'cell start';
  #cells: number[] = [];
  #most = 0;
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
    return this.#at === 'quoted';
  }

  /** Where in the row the current cell begins, behind its quote. */
  get cellStart(): number {
    return this.#from;
  }

  /** Whether any cell is quoted. */
  get isQuoted(): boolean {
    return this.#isQuoted;
  }

  /** Whether scanning stopped because a quoted cell goes on after its closing quote. */
  get isMisquoted(): boolean {
    return this.#isMisquoted;
  }

  /** Begins a row, of which the first `most` cells are kept. */
  begin(most: number): void {
    this.#at = 'cell start';
    this.#cells.length = 0;
    this.#most = most;
    this.#count = this.#breaks = 0;
    this.#isEscaped = this.#isQuoted = this.#isMisquoted = this.#afterCr = false;
  }

  /**
   * Reads on. `offset` is where in the row the bytes begin. Gives the index after the row's line break, or where a
   * quote stands wrong; -1 when the row goes on behind the bytes.
   */
  scan(bytes: Buffer, offset: number): number {
    const { length } = bytes;
    let at = 0;
    while (at < length) {
      switch (this.#at) {
        case 'cell start':
          this.#isEscaped = false;
          if (bytes[at] === QUOTE) {
            this.#at = 'quoted';
            this.#isQuoted = true;
            this.#afterCr = false;
            this.#from = offset + ++at;
          } else {
            this.#from = offset + at;
            if (bytes[at] === this.#delimiter) this.#addCell(offset + at++);
            else this.#at = 'plain';
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
          this.#at = 'quote';
          at = quote + 1;
          break;
        }
        case 'quote':
          if (bytes[at] === QUOTE) {
            this.#isEscaped = true;
            this.#afterCr = false;
            this.#at = 'quoted';
            at++;
          } else {
            this.#at = 'closed';
          }
          break;
        case 'closed':
        case 'line end': {
          const byte = bytes[at]!;
          const isDelimiter = byte === this.#delimiter && this.#at === 'closed';
          if (!isDelimiter && byte !== LF && byte !== CR) {
            this.#isMisquoted = true;
            return at;
          }
          at++;
          if (byte === CR && !this.#endsWithCr) {
            this.#at = 'line end';
            break;
          }
          this.#addCell(this.#closedAt);
          if (!isDelimiter) return at;
        }
      }
    }
    return -1;
  }

  /** Ends the row at the end of the file, `offset` bytes into it. False when a quoted cell is still open. */
  finish(offset: number): boolean {
    if (this.#at === 'quoted') return false;
    if (this.#at === 'cell start') this.#from = offset;
    this.#addCell(this.#at === 'cell start' || this.#at === 'plain' ? offset : this.#closedAt);
    return true;
  }

  /** The cells kept, of the row with these bytes. */
  texts(row: Buffer): string[] {
    const texts: string[] = [];
    const cells = this.#cells;
    for (let index = 0; index < cells.length; index += PER_CELL) {
      const text = row.toString('utf8', cells[index], cells[index + 1]);
      texts.push(cells[index + 2] === 0 ? text : text.replaceAll('""', '"'));
    }
    if (!this.#endsWithCr) this.#withoutCr(texts, row);
    return texts;
  }

  /** The CRs before the LF that ends a row are no part of its last cell, unless they are inside its quotes. */
  #withoutCr(texts: string[], row: Buffer): void {
    const cells = this.#cells;
    if (cells.length !== this.#count * PER_CELL || row.at(-1) !== LF) return;
    const from = cells.at(-PER_CELL)!;
    let end = cells.at(1 - PER_CELL)!;
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
    if (this.#count++ < this.#most) this.#cells.push(this.#from, end, this.#isEscaped ? 1 : 0);
    this.#at = 'cell start';
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
