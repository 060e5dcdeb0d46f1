import type { CellObject } from 'write-excel-file/node';
import { escapeLine } from '../../domain/text/escape-text.ts';
import { flaggedCsv } from '../../files/run-files.ts';
import type { FlaggedColumn } from './table-columns.ts';

export type WorkbookCell = string | number | null;

/** What a workbook needs of a column. */
export type WorkbookColumn = Pick<FlaggedColumn, 'title' | 'width' | 'format'>;

export type WorkbookRow = readonly WorkbookCell[];

/** UTF-16 units in a cell; Excel takes 32,767. */
const MAX_CELL_UNITS = 1000;

/** What XML or a screen cannot hold, and what reorders text. */
const UNSAFE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu;

/** Spreadsheets read this as the character with that number. */
const CHARACTER_CODE = /_(?=x[0-9a-f]{4}_)/giu;
const ESCAPED_UNDERSCORE = '_x005F_';

const HEADER_STYLE = {
  fontWeight: 'bold',
  backgroundColor: '#E8E8E8',
  wrap: true,
  alignVertical: 'top',
} as const;

/**
 * The bytes of a workbook with the most severe of `total` flagged items. Numbers and times are such; texts are texts,
 * whatever they begin with, and nothing is a link. Memory: about 10 KB for each row.
 */
export async function workbookBytes(
  columns: readonly WorkbookColumn[],
  rows: readonly WorkbookRow[],
  total: number,
): Promise<Buffer> {
  const header = columns.map(({ title }): CellObject => ({ ...textCell(title), ...HEADER_STYLE }));
  const cells = rows.map((row) => row.map((cell, index) => cellOf(cell, columns[index]!)));
  const { default: writeExcelFile } = await import('write-excel-file/node');
  return writeExcelFile([
    {
      sheet: 'Flagged items',
      data: [header, ...cells],
      columns: columns.map(({ width }) => ({ width })),
      stickyRowsCount: 1,
    },
    { sheet: 'About', data: about(rows.length, total), columns: [{ width: 16 }, { width: 90 }] },
  ]).toBuffer();
}

function about(rows: number, total: number): CellObject[][] {
  const number = (value: number): string => value.toLocaleString('en-US');
  const lines = [
    ['Rows', `${number(rows)} of ${number(total)}, the most severe first`],
    ['More rows', rows === total ? 'None' : `In ${flaggedCsv(1)}`],
    ['Not listed', 'Items that may show children in sexual contexts: restricted.csv'],
    ['Columns', 'docs/reading-runs.md of guardsweep explains them'],
  ];
  return lines.map(([name, text]) => [{ ...textCell(name!), fontWeight: 'bold' }, textCell(text!)]);
}

function cellOf(cell: WorkbookCell, { format }: WorkbookColumn): CellObject | null {
  if (cell === null) return null;
  if (typeof cell === 'number')
    return { type: Number, value: cell, ...(format === 'score' && { format: '0.000' }) };
  const time = format === 'time' ? new Date(`${cell.replace(' ', 'T')}Z`) : null;
  if (time === null || Number.isNaN(time.getTime())) return textCell(cell);
  return { type: Date, value: time, format: 'yyyy-mm-dd hh:mm:ss' };
}

function textCell(value: string): CellObject {
  const cut = value.length > MAX_CELL_UNITS ? `${value.slice(0, MAX_CELL_UNITS)}…` : value;
  // The library leaves out U+FFFD.
  const safe = cut
    .replaceAll('\ufffd', '?')
    .replaceAll(UNSAFE, escapeLine)
    .replaceAll(CHARACTER_CODE, ESCAPED_UNDERSCORE);
  return { type: String, value: isOfEveryObject(safe) ? asCode(safe) : safe };
}

/** The library numbers texts in a plain object, where these would be found before they are added. */
function isOfEveryObject(text: string): boolean {
  return text in {};
}

/** A text with its first character as a code, which spreadsheets read as that character. */
function asCode(text: string): string {
  return `_x${text.charCodeAt(0).toString(16).padStart(4, '0')}_${text.slice(1)}`;
}
