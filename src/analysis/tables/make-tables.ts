import type { RunConfig } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import { flaggedCsv, flaggedWorkbook, RUN_FILES } from '../../files/run-files.ts';
import { Database, type Row } from '../database.ts';
import { loadLines } from '../load-lines.ts';
import { verdictsInLines, VERDICTS_IN_TABLE } from '../verdict-columns.ts';
import { INERT_MACRO } from './formulas.ts';
import { WorkbookMaker } from './make-workbook.ts';
import {
  flaggedColumns,
  RESTRICTED_COLUMNS,
  verdictColumns,
  type FlaggedColumn,
  type TableColumn,
} from './table-columns.ts';
import type { WorkbookCell } from './workbook.ts';

/** Bounds of the tables of flagged items; tests set smaller ones. */
export interface FlaggedBounds {
  /** Max rows of one flagged.csv, without the header. */
  readonly csvRows: number;
  /** Max rows of one workbook, which is made in memory, and max number of workbooks: the rest is in flagged.csv only. */
  readonly workbookRows: number;
  readonly workbooks: number;
}

/** Spreadsheets take 1,048,576 rows, including the header. */
const BOUNDS: FlaggedBounds = { csvRows: 999_999, workbookRows: 10_000, workbooks: 5 };

/** Of DuckDB's buffers. Most of it is never used. */
const MEMORY = '768MB';
const SORT_MEMORY = '128MB';

/** Rows that are held while they are written: so few that those with the longest ids, paths and snippets fit into memory. */
const GROUP_ROWS = 4096;

/** A file of a run that is being made. */
export interface TableFile {
  /** Its path for now. */
  readonly temporary: string;
  write(content: string | readonly (string | Buffer)[]): Promise<void>;
  /** Has `work` write the file at `temporary`; it is called again after a wait if the disk is full. */
  fill(work: () => Promise<void>): Promise<void>;
  /** To be called after the last `write`. */
  complete(): Promise<unknown>;
}

interface TablesInput {
  readonly config: Pick<RunConfig, 'output' | 'policy' | 'sources'>;
  /** Categories of other taxonomies that the run has scores in. */
  readonly foreign: readonly string[];
  /** Path of verdicts.jsonl, complete. */
  readonly verdicts: string;
  /** Folder for what does not fit into memory: removed, whatever happens. */
  readonly spill: string;
  /** Called once per file. */
  readonly create: (name: string) => Promise<TableFile>;
  readonly bounds?: FlaggedBounds | undefined;
  readonly signal: AbortSignal;
}

/**
 * Makes the tables of a run: verdicts.parquet from verdicts.jsonl, everything else from that. Returns the rows of each,
 * without headers. Rejects with a system error that `isDiskFull` recognises when there is no room to spill.
 */
export function makeTables(input: TablesInput): Promise<Readonly<Record<string, number>>> {
  return Database.spillingTo(input.spill, (database) => new Tables(input, database).make());
}

class Tables {
  readonly #input: TablesInput;
  readonly #bounds: FlaggedBounds;
  readonly #database: Database;
  readonly #rows = new Map<string, number>();
  #parquet = '';

  constructor(input: TablesInput, database: Database) {
    this.#input = input;
    this.#bounds = input.bounds ?? BOUNDS;
    this.#database = database;
  }

  async make(): Promise<Readonly<Record<string, number>>> {
    const { config, signal } = this.#input;
    await this.#database.load(macros(config.output.csvSeparator), [], signal);
    await this.#makeParquet();
    if ((await this.#count(RESTRICTED)) > 0) {
      await this.#makeCsv(
        (part) => (part === 1 ? RUN_FILES.restricted : null),
        RESTRICTED_COLUMNS,
        RESTRICTED,
      );
    }
    if (!config.output.formats.includes('csv')) return Object.fromEntries(this.#rows);
    await this.#makeCsv(
      (part) => (part === 1 ? RUN_FILES.verdictsCsv : null),
      verdictColumns(config, this.#input.foreign),
      'true',
    );
    const columns = flaggedColumns(config);
    await this.#makeCsv(flaggedCsv, columns, FLAGGED, BY_SEVERITY);
    await this.#makeWorkbooks(columns, await this.#count(FLAGGED));
    return Object.fromEntries(this.#rows);
  }

  async #makeParquet(): Promise<void> {
    const { config, verdicts, create, signal } = this.#input;
    const file = await create(RUN_FILES.verdictsParquet);
    const to = `'${file.temporary.replaceAll("'", "''")}'`;
    const copy = `COPY (FROM ${verdictsInLines(config.policy, this.#input.foreign)}) 
      TO ${to} (FORMAT parquet, ROW_GROUP_SIZE ${GROUP_ROWS}, USE_TMP_FILE false)`;
    await file.fill(() => loadLines(this.#database, copy, verdicts, signal));
    await file.complete();
    this.#parquet = file.temporary;
    this.#rows.set(RUN_FILES.verdictsParquet, await this.#count('true'));
  }

  /** `nameOf`: the name of each part; null: there is one only. */
  async #makeCsv(
    nameOf: (part: number) => string | null,
    columns: readonly TableColumn[],
    condition: string,
    order = '',
  ): Promise<void> {
    const { create, config } = this.#input;
    const separator = config.output.csvSeparator;
    const cells = columns.map(({ value, type }) =>
      type === 'number' ? `plain(${value})` : `cell(${value})`,
    );
    const row = `concat_ws('${separator}', ${cells.map((cell) => `coalesce(${cell}, '')`).join(', ')})`;
    const head = `\ufeff${columns.map(({ name }) => name).join(separator)}\r\n`;
    let part = 1;
    let file = await create(nameOf(part)!);
    await file.write(head);
    let rows = 0;
    for await (const batch of this.#select(`${row} || chr(13) || chr(10)`, condition, order)) {
      for (let from = 0; from < batch.length;) {
        if (rows === this.#bounds.csvRows && nameOf(part + 1) !== null) {
          await file.complete();
          this.#rows.set(nameOf(part)!, rows);
          file = await create(nameOf(++part)!);
          await file.write(head);
          rows = 0;
        }
        const room = nameOf(part + 1) === null ? Infinity : this.#bounds.csvRows - rows;
        const now = batch.slice(from, from + room);
        await file.write(now.map(([text]) => text as string));
        rows += now.length;
        from += now.length;
      }
    }
    await file.complete();
    this.#rows.set(nameOf(part)!, rows);
  }

  /** None when nothing was flagged. */
  async #makeWorkbooks(columns: readonly FlaggedColumn[], total: number): Promise<void> {
    const { workbookRows, workbooks } = this.#bounds;
    if (total === 0) return;
    const cells = columns.map(({ value, type }) => (type === 'number' ? `(${value})::DOUBLE` : value));
    const order = `${BY_SEVERITY} LIMIT ${workbookRows * workbooks}`;
    let rows: (readonly WorkbookCell[])[] = [];
    let part = 1;
    const maker = new WorkbookMaker(columns, this.#input.signal);
    try {
      for await (const batch of this.#select(cells.join(', '), FLAGGED, order)) {
        for (const row of batch as WorkbookCell[][]) {
          if (rows.length === workbookRows) {
            await this.#makeWorkbook(maker, rows, part++, total);
            rows = [];
          }
          rows.push(row);
        }
      }
      await this.#makeWorkbook(maker, rows, part, total);
    } finally {
      await maker.close();
    }
  }

  async #makeWorkbook(
    maker: WorkbookMaker,
    rows: readonly (readonly WorkbookCell[])[],
    part: number,
    total: number,
  ): Promise<void> {
    const { create } = this.#input;
    const { workbookRows, workbooks } = this.#bounds;
    const before = (part - 1) * workbookRows;
    const isLast = before + rows.length === total;
    const next = isLast ? null : part === workbooks ? flaggedCsv(1) : flaggedWorkbook(part + 1);
    const file = await create(flaggedWorkbook(part));
    await file.write([await maker.make({ rows, before, total, next })]);
    await file.complete();
    this.#rows.set(flaggedWorkbook(part), rows.length);
  }

  /** Sorts with little memory, which takes what it gets; goes on with more where rows are so long that it does not suffice. */
  async *#select(what: string, condition: string, order: string): AsyncGenerator<Row[], void> {
    const { signal } = this.#input;
    let given = 0;
    for (const memory of order === '' ? [MEMORY] : [SORT_MEMORY, MEMORY]) {
      await this.#database.load(`SET memory_limit = '${memory}'`, [], signal);
      // Cells are made behind the order: only of the rows that are wanted, and out of what was sorted.
      const sql = `
        SELECT ${what} FROM (FROM ${VERDICTS_IN_TABLE} WHERE ${condition} ${order}) OFFSET ${given}`;
      try {
        for await (const batch of this.#database.stream(sql, [this.#parquet], signal)) {
          given += batch.length;
          yield batch;
        }
        return;
      } catch (error) {
        if (memory === MEMORY || !(error instanceof Failure)) throw error;
      }
    }
  }

  async #count(condition: string): Promise<number> {
    const sql = `SELECT count(*) FROM ${VERDICTS_IN_TABLE} WHERE ${condition}`;
    const [row] = await this.#database.query(sql, [this.#parquet], this.#input.signal);
    return Number(row![0]);
  }
}

const RESTRICTED = 'restricted_by IS NOT NULL';
const FLAGGED = `decision IN ('review', 'block') AND restricted_by IS NULL`;
const BY_SEVERITY = `ORDER BY decision = 'block' DESC, score DESC, seq`;

/** What cells are written with: RFC 4180, and numbers as JSON has them where that is short. */
function macros(separator: string): string {
  return `${INERT_MACRO}
    CREATE OR REPLACE TEMP MACRO quoted(text) AS CASE WHEN regexp_matches(text, '["\\r\\n${separator}]')
      THEN '"' || replace(text, '"', '""') || '"' ELSE text END;
    CREATE OR REPLACE TEMP MACRO cell(text) AS quoted(inert(text));
    CREATE OR REPLACE TEMP MACRO plain(number) AS
      CASE WHEN number = trunc(number) AND abs(number) < 1e15 THEN number::BIGINT::VARCHAR ELSE number::VARCHAR END;`;
}
