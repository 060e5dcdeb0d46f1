import type { Delimiter } from './delimiter.ts';

/** The dialect of a delimited table. */
export interface CsvDialect {
  readonly delimiter: Delimiter;
  /** What ends a line. If CR does, so do LF and CR LF; if LF does, a CR before it is part of the line break. */
  readonly lineBreak: '\n' | '\r';
  /** Whether the first line names the delimiter (`sep=;`), so that the table starts on the second. */
  readonly namesDelimiter: boolean;
  /** Whether the first row names the columns. Otherwise they are named by position, starting with 1. */
  readonly header: boolean;
}
