import { parse } from 'csv-parse/sync';
import type { ByteSpan } from '../record.ts';

const QUOTE = 0x22;
const LF = 0x0a;
const CR = 0x0d;

export const DELIMITERS = [',', ';', '\t', '|'] as const;

export type Delimiter = (typeof DELIMITERS)[number];

/** How a delimited table separates its cells and rows. */
export interface CsvSeparation {
  readonly delimiter: Delimiter;
  /**
   * The character that ends a line. If it is CR, LF and CR LF end a line too; if it is LF, a CR before it is part of
   * the line break.
   */
  readonly lineBreak: '\n' | '\r';
  /** Whether the first line names the delimiter (`sep=;`), so the table starts on the second. */
  readonly namesDelimiter: boolean;
}

/**
 * `start`: before the first byte of a cell. `blank`: after CRs at its start, which are part of a line break if only that
 * follows. `quote`: after a quote in a quoted cell, which closes the cell unless a second quote follows (an escaped
 * quote). `closed`: after the closing quote. `line end`: after a quoted cell and CRs; only more CRs or an LF may follow.
 */
type State = 'start' | 'blank' | 'plain' | 'quoted' | 'quote' | 'closed' | 'line end';

/**
 * Finds the end of one row of a table (RFC 4180), whose bytes may arrive in pieces, and counts its cells. A quote opens a
 * quoted cell only as the cell's first byte; elsewhere in an unquoted cell it is data. Stores no cells.
 */
export class RowFramer {
  readonly #delimiter: number;
  readonly #endsWithCr: boolean;
  #state: State = 'start';
  #width = 0;
  #isLinewise = false;
  /** Number of bytes of the row that have been scanned. */
  #offset = 0;
  #afterCr = false;
  /** Index of the next line feed in the bytes being scanned, cached because many cells may come before it. */
  #lf = -1;
  /** Offset in the row after the last quote that may have closed a cell. */
  #closedAt = 0;

  /** Cells of the row so far. */
  cells = 0;
  /** Cells of the row so far, without empty ones at the end. */
  filled = 0;
  /** Offset in the row at which the last of its first `width` cells ends. A CR before the LF that ends the row may precede it. */
  end = 0;
  /** Line breaks in quoted cells. */
  breaks = 0;
  /** Offset in the row after the first of these line breaks; -1 if there is none. */
  secondLine = -1;
  /** Offset in the row of the last quote that opened a cell. */
  openedAt = 0;
  /** Whether any cell is quoted. */
  isQuoted = false;
  /** Why scanning stopped: a quoted cell continues after its closing quote, or to the next line. */
  fault: 'misquoted' | 'unclosed' | null = null;

  constructor({ delimiter, lineBreak }: Pick<CsvSeparation, 'delimiter' | 'lineBreak'>) {
    this.#delimiter = delimiter.charCodeAt(0);
    this.#endsWithCr = lineBreak === '\r';
  }

  /** Starts a row of a table with `width` columns. If `isLinewise`, the row must end on its first line. */
  begin(width: number, isLinewise = false): void {
    this.#state = 'start';
    this.#width = width;
    this.#isLinewise = isLinewise;
    this.#offset = this.cells = this.filled = this.end = this.breaks = 0;
    this.secondLine = -1;
    this.#afterCr = this.isQuoted = false;
    this.fault = null;
  }

  /**
   * Scans the next bytes of the row. Returns the index after the row's line break, or where a fault was found; -1 if the
   * row continues after the bytes.
   */
  scan(bytes: Buffer): number {
    const base = this.#offset;
    const { length } = bytes;
    this.#offset += length;
    this.#lf = -1;
    let at = 0;
    while (at < length) {
      const byte = bytes[at]!;
      switch (this.#state) {
        case 'start':
        case 'blank':
          if (byte === QUOTE && this.#state === 'start') {
            this.#state = 'quoted';
            this.isQuoted = true;
            this.openedAt = base + at++;
          } else if (byte === CR && !this.#endsWithCr) {
            this.#state = 'blank';
            at++;
          } else if (byte === this.#delimiter) {
            this.#endCell(base + at++, false);
          } else if (byte === LF || byte === CR) {
            this.#endCell(base + at, false);
            return at + 1;
          } else {
            this.#state = 'plain';
          }
          break;
        case 'plain': {
          at = this.#plainEnd(bytes, at);
          if (at === length) return -1;
          this.#endCell(base + at, true);
          if (bytes[at++] !== this.#delimiter) return at;
          break;
        }
        case 'quoted': {
          const quote = bytes.indexOf(QUOTE, at);
          const to = quote < 0 ? length : quote;
          this.#countBreaks(bytes, at, to, base);
          if (this.#isLinewise && this.breaks > 0) {
            this.fault = 'unclosed';
            this.breaks = 1;
            return this.secondLine - base;
          }
          if (quote < 0) return -1;
          at = quote + 1;
          this.#closedAt = base + at;
          this.#state = 'quote';
          break;
        }
        case 'quote':
          if (byte === QUOTE) {
            this.#afterCr = false;
            this.#state = 'quoted';
            at++;
          } else this.#state = 'closed';
          break;
        case 'closed':
        case 'line end': {
          const isDelimiter = byte === this.#delimiter && this.#state === 'closed';
          if (!isDelimiter && byte !== LF && byte !== CR) {
            this.fault = 'misquoted';
            return at;
          }
          at++;
          if (byte === CR && !this.#endsWithCr) {
            this.#state = 'line end';
            break;
          }
          this.#endQuoted();
          if (!isDelimiter) return at;
        }
      }
    }
    return -1;
  }

  /** Ends the row at the end of the file. False if a quoted cell is still open. */
  finish(): boolean {
    if (this.#state === 'quoted') return false;
    if (this.#state === 'plain') this.#endCell(this.#offset, true);
    else if (this.#state === 'start' || this.#state === 'blank') this.#endCell(this.#offset, false);
    else this.#endQuoted();
    return true;
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

  #endQuoted(): void {
    this.#endCell(this.#closedAt, this.#closedAt - this.openedAt > 2);
  }

  #endCell(end: number, isFilled: boolean): void {
    if (++this.cells <= this.#width) this.end = end;
    if (isFilled) this.filled = this.cells;
    this.#state = 'start';
    this.#afterCr = false;
  }

  /** In a table whose lines end with CR, a CR LF is one line break; the second line begins after its first byte. */
  #countBreaks(bytes: Buffer, from: number, to: number, base: number): void {
    if (!this.#endsWithCr) {
      for (let at = this.#nextLf(bytes, from); at < to; at = this.#nextLf(bytes, at + 1)) {
        if (this.breaks++ === 0) this.secondLine = base + at + 1;
      }
      return;
    }
    for (let at = from; at < to; at++) {
      const byte = bytes[at]!;
      if (byte === LF ? !this.#afterCr : byte === CR) {
        if (this.breaks++ === 0) this.secondLine = base + at + 1;
      }
      this.#afterCr = byte === CR;
    }
  }

  /** Index of the next LF from `from` on in the bytes being scanned; their length if there is none. */
  #nextLf(bytes: Buffer, from: number): number {
    if (this.#lf < from) {
      const found = bytes.indexOf(LF, from);
      this.#lf = found < 0 ? bytes.length : found;
    }
    return this.#lf;
  }
}

type Separation = Pick<CsvSeparation, 'delimiter' | 'lineBreak'>;

/** Splits one row into cells. */
export function splitRow(row: Buffer, separation: Separation): string[] {
  return splitRows(row, [{ start: 0, end: row.length }], separation)[0]!;
}

/**
 * Splits rows whose ends and quotes were found to be sound into cells. The rows are given as byte ranges, in order,
 * without line breaks. Splits many rows at a time, because a new parser costs as much as several rows.
 */
export function splitRows(
  bytes: Buffer,
  rows: readonly ByteSpan[],
  { delimiter, lineBreak }: Separation,
): string[][] {
  const text = Buffer.allocUnsafe(bytes.length + rows.length);
  let end = 0;
  for (const row of rows) {
    end += bytes.copy(text, end, row.start, row.end);
    // Some programs write CR CR LF.
    if (lineBreak === '\n') while (end > 0 && text[end - 1] === CR) end--;
    text[end++] = LF;
  }
  return parse(text.subarray(0, end), {
    delimiter,
    record_delimiter: '\n',
    relax_column_count: true,
    relax_quotes: true,
  });
}
