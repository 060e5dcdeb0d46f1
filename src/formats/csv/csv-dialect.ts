import { type Delimiter, namedDelimiter, sniffDelimiter, sniffLineBreak } from './delimiter.ts';
import { type SharedWidth, sharedWidth } from './shared-width.ts';

/** How a delimited table separates its cells and rows. */
export interface CsvSeparation {
  readonly delimiter: Delimiter;
  /** What ends a line. If CR does, so do LF and CR LF; if LF does, a CR before it is part of the line break. */
  readonly lineBreak: '\n' | '\r';
  /** Whether the first line names the delimiter (`sep=;`), so that the table starts on the second. */
  readonly namesDelimiter: boolean;
}

/** The dialect of a delimited table. */
export interface CsvDialect extends CsvSeparation {
  /** Whether the first row names the columns. Otherwise they are named by position, starting with 1. */
  readonly header: boolean;
  /** The width of the rows if they share one that is not the first row's; null: the first row's. */
  readonly width: SharedWidth | null;
}

/**
 * The dialect of the table that starts with `head`, as far as its head shows, with a header. `isComplete`: the head is the
 * whole file. `preferred`: the delimiter that the file's name suggests.
 */
export function sniffDialect(head: Buffer, isComplete: boolean, preferred: Delimiter | null): CsvDialect {
  const delimiter = sniffDelimiter(head, preferred);
  const separation = {
    delimiter,
    lineBreak: sniffLineBreak(head),
    namesDelimiter: namedDelimiter(head) !== null,
  };
  return { ...separation, header: true, width: sharedWidth(head, isComplete, separation) };
}
