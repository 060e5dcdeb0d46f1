import { Parser } from 'csv-parse';

export interface ParsedRow {
  readonly cells: readonly string[];
  /** Offset in the bytes given to this parser after the row and its line break. */
  readonly end: number;
}

/**
 * csv-parse looks a few bytes ahead before it decides. Blank lines, which it skips, let it come to the end of the
 * bytes that count.
 */
export const LOOK_AHEAD: Buffer = Buffer.from('\n'.repeat(16));

/**
 * csv-parse, used synchronously: a write parses at once, and the rows are collected where it would hand them to a
 * stream (an event or an await for each would cost more than the parsing). After a row that breaks the quoting rules
 * `errored` is set and the parser is of no more use. Rows of any number of cells are given.
 */
export class RowParser extends Parser {
  #rows: ParsedRow[] = [];

  constructor(delimiter: string, lineBreak: '\n' | '\r') {
    super({
      delimiter,
      // In a table of CRs an LF outside quotes can only end a line too; in one of LFs, a CR is part of a cell.
      record_delimiter: lineBreak === '\r' ? ['\r\n', '\r', '\n'] : ['\r\n', '\n'],
      relax_column_count: true,
      skip_empty_lines: true,
    });
    // What is wrong is read from `errored`; the event that follows has nothing to add.
    this.on('error', () => {});
  }

  /** Parses the next bytes and gives the rows they complete. */
  parse(bytes: Buffer): readonly ParsedRow[] {
    this.write(bytes);
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  override push(cells: readonly string[] | null): boolean {
    if (cells !== null) this.#rows.push({ cells, end: this.info.bytes });
    return true;
  }
}
