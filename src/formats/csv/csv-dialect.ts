import type { Delimiter } from './delimiter.ts';

/** How a delimited table is written. */
export interface CsvDialect {
  readonly delimiter: Delimiter;
  /** What ends a line. With CR, an LF or a CR LF does too. */
  readonly lineBreak: '\n' | '\r';
  /** The first line names the delimiter; the table begins with the second. */
  readonly namesDelimiter: boolean;
  /** Whether the first row names the columns. Without one they are named by their positions, from 1 on. */
  readonly header: boolean;
}
