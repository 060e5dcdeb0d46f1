import { MAX_PART_BYTES } from '../messages.ts';
import { PartTooLarge } from './unpacker.ts';
import { readXml, unescapeCharacters } from './xml.ts';

/** A sheet as a CSV table, in which each row has as many cells as the widest one. */
export interface Sheet {
  readonly name: string;
  readonly csv: Buffer;
}

/** Maximum columns of a sheet in Excel and LibreOffice. */
const MAX_COLUMNS = 16_384;

/** Maximum cells of a sheet, which keeps it in memory. */
const MAX_CELLS = MAX_PART_BYTES / 8;

/** The rows of a sheet, without empty ones, and with repeated ones only once. */
class Rows {
  readonly #rows: string[][] = [];
  #row: string[] = [];
  #width = 0;
  #cells = 0;

  /** `column` counts from 0. */
  setCell(column: number, value: string): void {
    if (value === '' || column >= MAX_COLUMNS) return;
    while (this.#row.length < column) this.#row.push('');
    this.#row[column] = value;
  }

  endRow(): void {
    if (this.#row.length > 0) this.#rows.push(this.#row);
    this.#cells += this.#row.length;
    if (this.#cells > MAX_CELLS) throw new PartTooLarge(MAX_PART_BYTES);
    this.#width = Math.max(this.#width, this.#row.length);
    this.#row = [];
  }

  toCsv(): Buffer {
    let bytes = this.#rows.length * this.#width;
    for (const row of this.#rows) for (const cell of row) bytes += cell.length;
    if (bytes > MAX_PART_BYTES) throw new PartTooLarge(bytes);
    const lines = this.#rows.map((row) => {
      const cells = row.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell));
      return cells.join(',') + ','.repeat(this.#width - row.length) + '\n';
    });
    return Buffer.from(lines.join(''));
  }
}

/** Reads the strings to which cells of an XLSX workbook refer (ECMA-376 Part 1, 18.4), without pronunciation guides. */
export async function readSharedStrings(bytes: AsyncIterable<Buffer>): Promise<readonly string[]> {
  const strings: string[] = [];
  const path: string[] = [];
  await readXml(bytes, {
    open: ({ local }) => {
      path.push(local);
      if (local === 'si') strings.push('');
    },
    text: (text) => {
      if (path.at(-1) === 't' && !path.includes('rPh'))
        strings[strings.length - 1] += unescapeCharacters(text);
    },
    close: () => void path.pop(),
  });
  return strings;
}

/** Reads a worksheet of XLSX (ECMA-376 Part 1, 18.3): the stored values of its cells. */
export async function readWorksheet(
  bytes: AsyncIterable<Buffer>,
  strings: readonly string[],
): Promise<Buffer> {
  const rows = new Rows();
  const path: string[] = [];
  let type: string | undefined;
  let column = -1;
  let value = '';
  await readXml(bytes, {
    open: ({ local, attributes }) => {
      path.push(local);
      if (local === 'row') column = -1;
      if (local !== 'c') return;
      column = columnOf(attributes.get('r')) ?? column + 1;
      type = attributes.get('t');
      value = '';
    },
    text: (text) => {
      const isValue = path.at(-1) === 'v' || (path.at(-1) === 't' && !path.includes('rPh'));
      if (isValue && path.includes('c')) value += unescapeCharacters(text);
    },
    close: (local) => {
      path.pop();
      if (local === 'row') rows.endRow();
      if (local !== 'c') return;
      if (type === 's') value = strings[Number(value)] ?? '';
      if (type === 'b') value = value === '1' ? 'TRUE' : 'FALSE';
      rows.setCell(column, value);
    },
  });
  return rows.toCsv();
}

/** The column in a cell's name, such as `AB12`, counted from 0. */
function columnOf(cell: string | undefined): number | null {
  const letters = /^[A-Z]{1,3}/.exec(cell ?? '')?.[0];
  if (letters === undefined) return null;
  return [...letters].reduce((column, letter) => column * 26 + letter.charCodeAt(0) - 64, 0) - 1;
}

/** Reads the sheets of an OpenDocument spreadsheet (OpenDocument 1.3 Part 3, 9), with cells as displayed. */
export async function readOdsSheets(bytes: AsyncIterable<Buffer>): Promise<readonly Sheet[]> {
  const sheets: Sheet[] = [];
  const path: string[] = [];
  let name = '';
  let rows = new Rows();
  let column = 0;
  let repeated = 1;
  let lines: string[] = [];
  const isInCell = (): boolean => path.some((local, at) => local === 'p' && path[at - 1] === 'table-cell');
  await readXml(bytes, {
    open: ({ local, attributes }) => {
      path.push(local);
      if (local === 'table') [name, rows] = [attributes.get('name') ?? '', new Rows()];
      if (local === 'table-row') column = 0;
      if (local === 'table-cell' || local === 'covered-table-cell') {
        repeated = Math.max(1, Number.parseInt(attributes.get('number-columns-repeated') ?? '1', 10));
        lines = [];
      }
      if (!isInCell()) return;
      if (local === 'p') lines.push('');
      else lines[lines.length - 1] += SPACES.get(local) ?? '';
    },
    text: (text) => {
      if (isInCell()) lines[lines.length - 1] += text.replace(/\s+/g, ' ');
    },
    close: (local) => {
      path.pop();
      if (local === 'table-cell' || local === 'covered-table-cell') {
        const value = local === 'table-cell' ? lines.join('\n') : '';
        const end = Math.min(MAX_COLUMNS, column + repeated);
        if (value !== '') for (let at = column; at < end; at++) rows.setCell(at, value);
        column = end;
      }
      if (local === 'table-row') rows.endRow();
      if (local === 'table') sheets.push({ name, csv: rows.toCsv() });
    },
  });
  return sheets;
}

const SPACES: ReadonlyMap<string, string> = new Map([
  ['s', ' '],
  ['tab', '\t'],
  ['line-break', '\n'],
]);
