import type { OutcomeLine } from '../../domain/outcome.ts';
import { flaggedCsv, flaggedWorkbook } from '../../files/run-files.ts';
import type { TableTarget } from '../outcomes/outcome-files.ts';
import type { Cell, CsvTable } from './csv.ts';
import type { FlaggedColumn } from './flagged-columns.ts';
import { makeWorkbook } from './make-workbook.ts';
import { SeverityOrder } from './severity-order.ts';

/** Bounds of the tables of flagged items; tests set smaller ones. */
export interface FlaggedBounds {
  /** Max rows of one flagged.csv, without the header. */
  readonly csvRows: number;
  /** Max rows of one workbook, which is made in memory, and max number of workbooks: the rest is in flagged.csv only. */
  readonly workbookRows: number;
  readonly workbooks: number;
  /** Bytes of lines that are held in memory while they are sorted. */
  readonly sortedBytes?: number;
}

/** Spreadsheets take 1,048,576 rows, including the header. */
const BOUNDS: FlaggedBounds = { csvRows: 999_999, workbookRows: 10_000, workbooks: 5 };

interface FlaggedOptions<T> {
  /** Called once per file, before its first text. */
  readonly create: (name: string) => Promise<T>;
  readonly csv: CsvTable;
  /** Takes the number of rows of each file. */
  readonly rows: Map<string, number>;
  readonly columns: readonly FlaggedColumn[];
  readonly bounds?: FlaggedBounds | undefined;
}

/** Renders the flagged items, the severest first: flagged.csv, flagged-2.csv, … and flagged.xlsx, flagged-2.xlsx, … */
export class FlaggedTables<T extends TableTarget> {
  readonly #options: FlaggedOptions<T>;
  readonly #bounds: FlaggedBounds;
  readonly #order: SeverityOrder;
  #csv: T;
  #csvRows = 0;
  #csvFiles = 1;
  /** Rows of the next workbook. */
  #waiting: (readonly Cell[])[] = [];
  #workbooks = 0;

  private constructor(options: FlaggedOptions<T>, csv: T) {
    this.#options = options;
    this.#csv = csv;
    this.#bounds = options.bounds ?? BOUNDS;
    this.#order = new SeverityOrder(this.#bounds.sortedBytes);
  }

  static async begin<T extends TableTarget>(options: FlaggedOptions<T>): Promise<FlaggedTables<T>> {
    return new FlaggedTables(options, await beginCsv(options, 1));
  }

  /** `bytes`: the line as JSON with a newline. */
  add(line: OutcomeLine, bytes: Buffer): Promise<void> {
    return this.#order.add(line, bytes);
  }

  /** Writes the tables. To be called once, after the last `add`. */
  async end(signal: AbortSignal): Promise<void> {
    const { columns } = this.#options;
    for await (const lines of this.#order.lines(signal)) {
      const rows = lines.map((line) => columns.map(({ cellOf }) => cellOf(line)));
      await this.#addCsv(rows);
      for (const row of rows) await this.#addToWorkbook(row, signal);
    }
    this.#options.rows.set(flaggedCsv(this.#csvFiles), this.#csvRows);
    if (this.#workbooks === 0 || this.#waiting.length > 0) await this.#writeWorkbook(signal);
  }

  /** Idempotent. */
  close(): Promise<void> {
    return this.#order.close();
  }

  async #addToWorkbook(row: readonly Cell[], signal: AbortSignal): Promise<void> {
    const { workbookRows, workbooks } = this.#bounds;
    if (this.#workbooks === workbooks) return;
    this.#waiting.push(row);
    if (this.#waiting.length === workbookRows) await this.#writeWorkbook(signal);
  }

  async #writeWorkbook(signal: AbortSignal): Promise<void> {
    const { create, columns } = this.#options;
    const { workbookRows, workbooks } = this.#bounds;
    const rows = this.#waiting;
    this.#options.rows.set(flaggedWorkbook(this.#workbooks + 1), rows.length);
    this.#waiting = [];
    const before = this.#workbooks * workbookRows;
    const total = this.#order.count;
    const part = ++this.#workbooks;
    const isLast = before + rows.length === total;
    const next = isLast ? null : part === workbooks ? flaggedCsv(1) : flaggedWorkbook(part + 1);
    const target = await create(flaggedWorkbook(part));
    await target.write([await makeWorkbook(columns, { rows, before, total, next }, signal)]);
    await target.complete();
  }

  async #addCsv(rows: readonly Cell[][]): Promise<void> {
    const { csv } = this.#options;
    const { csvRows } = this.#bounds;
    for (let from = 0; from < rows.length;) {
      if (this.#csvRows === csvRows) {
        await this.#csv.complete();
        this.#options.rows.set(flaggedCsv(this.#csvFiles), csvRows);
        this.#csv = await beginCsv(this.#options, ++this.#csvFiles);
        this.#csvRows = 0;
      }
      const now = rows.slice(from, from + csvRows - this.#csvRows);
      await this.#csv.write(now.map((cells) => csv.row(cells)));
      this.#csvRows += now.length;
      from += now.length;
    }
  }
}

async function beginCsv<T extends TableTarget>(
  { create, csv, columns }: FlaggedOptions<T>,
  part: number,
): Promise<T> {
  const target = await create(flaggedCsv(part));
  await target.write(csv.head(columns.map(({ name }) => name)));
  return target;
}
