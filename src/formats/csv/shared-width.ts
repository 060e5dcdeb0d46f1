import { type CsvSeparation, RowFramer } from './row-framer.ts';

/** The number of cells shared by the rows of a table, if it differs from that of the first row. */
export interface SharedWidth {
  readonly cells: number;
  /** Whether the header has one name fewer because each row begins with its number, as written by R and pandas. */
  readonly isNumbered: boolean;
}

/** Maximum rows to examine. */
const MAX_ROWS = 100;

/** Fraction of the examined rows that must agree on a width other than the first row's. */
const AGREEING = 0.9;

/** Names of columns that contain row numbers. */
const NUMBERS = /^(?:\w*id|index|key|line|no|nr|num|number|row)$/i;

interface MeasuredRow {
  readonly cells: number;
  readonly filled: number;
  /** The first cell, if it is short and contains neither delimiters nor quotes. */
  readonly begin: string;
}

/**
 * Finds the width that nearly all rows of the table that starts with `head` share, if more rows have it than fit the
 * first row; the names in the first row must then be fitted to it. Null if the first row's width applies. `isComplete`
 * means that the head is the whole file. Empty cells at the end of a row fit any width. A row with one cell does not
 * count, because it contains no delimiter.
 */
export function sharedWidth(head: Buffer, isComplete: boolean, dialect: CsvSeparation): SharedWidth | null {
  const [first, ...rows] = measuredRows(head, isComplete, dialect);
  if (first === undefined || rows.length === 0 || first.cells < 2) return null;
  const fitting = (least: number, most: number): number =>
    rows.filter(({ cells, filled }) => filled <= most && cells >= least).length;
  let best = { cells: 0, rows: 0 };
  for (const cells of new Set(rows.map((row) => row.cells))) {
    const count = fitting(cells, cells);
    const isBetter = count > best.rows || (count === best.rows && cells < best.cells);
    if (cells > 1 && isBetter) best = { cells, rows: count };
  }
  if (best.rows < AGREEING * rows.length || best.rows <= fitting(first.filled, first.cells)) return null;
  const lacksName = best.cells === first.cells + 1 && !NUMBERS.test(first.begin);
  return { cells: best.cells, isNumbered: lacksName && areConsecutive(rows) };
}

/** Measures the rows in the head, without going back: the lines of a misquoted row are skipped. */
function measuredRows(head: Buffer, isComplete: boolean, dialect: CsvSeparation): MeasuredRow[] {
  const framer = new RowFramer(dialect);
  const lineBreak = dialect.lineBreak.charCodeAt(0);
  const lineAfter = (offset: number): number => {
    const end = head.indexOf(lineBreak, offset);
    return end < 0 ? head.length : end + 1;
  };
  const rows: MeasuredRow[] = [];
  for (let at = dialect.namesDelimiter ? lineAfter(0) : 0; at < head.length && rows.length <= MAX_ROWS;) {
    framer.begin(0);
    const found = framer.scan(head.subarray(at));
    if (found < 0 && (!isComplete || !framer.finish())) break;
    const { cells, filled } = framer;
    const isBlank = cells === 1 && filled === 0;
    if (framer.fault === null && !isBlank) rows.push({ cells, filled, begin: beginAt(head, at) });
    const end = found < 0 ? head.length : at + found;
    at = framer.fault === null ? end : lineAfter(end);
  }
  return rows;
}

function beginAt(head: Buffer, at: number): string {
  const cell = /^(?:"([^"]{0,20})"|([^",;\t|]{0,20}))[,;\t|]/.exec(head.toString('latin1', at, at + 24));
  return cell?.[1] ?? cell?.[2] ?? '';
}

function areConsecutive(rows: readonly MeasuredRow[]): boolean {
  const first = Number.parseInt(rows[0]!.begin, 10);
  return rows.every(({ begin }, index) => begin === String(first + index));
}
