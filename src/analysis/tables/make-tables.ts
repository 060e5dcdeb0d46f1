import type { RunConfig } from '../../config/run-config.ts';
import { Failure } from '../../domain/failure.ts';
import { flaggedCsv, RUN_FILES } from '../../files/run-files.ts';
import { allEnded } from '../../flow/abortable.ts';
import { Database } from '../database.ts';
import { loadLines } from '../load-lines.ts';
import { sqlText } from '../duckdb.ts';
import { verdictsInLines, VERDICTS_IN_TABLE } from '../verdict-columns.ts';
import { cellMacro } from './formulas.ts';
import { NOT_JUDGED, NOT_JUDGED_COLUMNS } from './not-judged.ts';
import {
  flaggedColumns,
  RESTRICTED_COLUMNS,
  verdictColumns,
  type FlaggedColumn,
  type TableColumn,
} from './table-columns.ts';
import { writeWorkbook, type WorkbookRow } from './workbook.ts';

/** Bounds of the tables of flagged items; tests set smaller ones. */
export interface FlaggedBounds {
  /** Maximum rows of one flagged.csv, without the header. */
  readonly csvRows: number;
  /** Maximum rows of flagged.xlsx; the rest is in flagged.csv only. */
  readonly workbookRows: number;
}

/** Spreadsheets take 1,048,576 rows, including the header. */
const BOUNDS: FlaggedBounds = { csvRows: 999_999, workbookRows: 10_000 };

/** Limits of DuckDB's buffers; the larger one is used if the smaller is not enough. */
const LITTLE_MEMORY = '128MB';
const MEMORY = '768MB';

/** Rows held in memory while they are written: few enough to fit even with the longest ids, paths and snippets. */
const GROUP_ROWS = 4096;

/** A table file that is being written. */
export interface TableFile {
  readonly name: string;
  /** Path of the file until it is complete. */
  readonly temporary: string;
  write(content: string | readonly (string | Buffer)[]): Promise<void>;
  /** Has `work` write the file at `temporary`; calls it again after a wait if the disk is full. */
  fill(work: () => Promise<void>): Promise<void>;
  /** Call after the last `write`. */
  complete(): Promise<unknown>;
}

interface TablesInput {
  readonly config: Pick<RunConfig, 'output' | 'policy' | 'sources'>;
  /** Categories of other taxonomies in which the run has scores. */
  readonly foreign: readonly string[];
  /** Path of the complete verdicts.jsonl. */
  readonly verdicts: string;
  /** Folder for data that does not fit into memory; always removed at the end. */
  readonly spill: string;
  /** Called once per file. */
  readonly create: (name: string) => Promise<TableFile>;
  readonly bounds?: FlaggedBounds | undefined;
  readonly signal: AbortSignal;
}

/**
 * Makes the tables of a run: verdicts.parquet from verdicts.jsonl, and everything else from verdicts.parquet. Returns
 * the number of rows of each, without headers. Rejects with a system error that `isDiskFull` recognises when there is
 * no room to spill.
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
  /** Memory limit of all running statements. Never lowered, because two run at a time. */
  #memory = LITTLE_MEMORY;

  constructor(input: TablesInput, database: Database) {
    this.#input = input;
    this.#bounds = input.bounds ?? BOUNDS;
    this.#database = database;
  }

  async make(): Promise<Readonly<Record<string, number>>> {
    const { config, create, signal } = this.#input;
    await this.#database.load(macros(config.output.csvSeparator), [], signal);
    await this.#makeParquet();
    const restricted = await this.#count(RESTRICTED);
    if (restricted > 0) {
      const from = `(FROM ${VERDICTS_IN_TABLE} WHERE ${RESTRICTED})`;
      await this.#fillCsv(await create(RUN_FILES.restricted), RESTRICTED_COLUMNS, from, restricted);
    }
    const causes = await this.#count('true', NOT_JUDGED);
    if (causes > 0)
      await this.#fillCsv(await create(RUN_FILES.notJudged), NOT_JUDGED_COLUMNS, NOT_JUDGED, causes);
    if (!config.output.formats.includes('csv')) return Object.fromEntries(this.#rows);
    const items = this.#rows.get(RUN_FILES.verdictsParquet)!;
    const columns = verdictColumns(config, this.#input.foreign);
    // Created first: files are listed in the order in which they are created.
    const file = await create(RUN_FILES.verdictsCsv);
    await allEnded(
      this.#fillCsv(file, columns, VERDICTS_IN_TABLE, items),
      this.#makeFlagged(flaggedColumns(config)),
    );
    return Object.fromEntries(this.#rows);
  }

  async #makeParquet(): Promise<void> {
    const { config, verdicts, create, signal } = this.#input;
    const file = await create(RUN_FILES.verdictsParquet);
    const copy = `COPY (FROM ${verdictsInLines(config.policy, this.#input.foreign)})
      TO ${sqlText(file.temporary)} (FORMAT parquet, ROW_GROUP_SIZE ${GROUP_ROWS}, USE_TMP_FILE false)`;
    await file.fill(() => loadLines(this.#database, copy, verdicts, signal));
    await file.complete();
    this.#parquet = file.temporary;
    this.#rows.set(RUN_FILES.verdictsParquet, await this.#count('true'));
  }

  /**
   * `from` selects rows of verdicts.parquet, `rows` is their number. Each line is built as one string and written
   * unchanged.
   */
  async #fillCsv(
    file: TableFile,
    columns: readonly TableColumn[],
    from: string,
    rows: number,
  ): Promise<void> {
    this.#rows.set(file.name, rows);
    const separator = this.#input.config.output.csvSeparator;
    // Macros repeat their argument, so each value is computed first, and named.
    const values = columns.map(({ value }, at) => `${value} AS v${at}`);
    const cells = columns.map(({ type }, at) => {
      const cell = { text: `cell(v${at})`, number: `plain(v${at})`, plain: `v${at}` }[type];
      return `coalesce(${cell}, '')`;
    });
    const head = `\ufeff${columns.map((column) => column.name).join(separator)}\r`;
    // Compiling the patterns of all cells takes longer than everything else for a file without rows.
    const line = rows === 0 ? `''` : `concat_ws('${separator}', ${cells.join(', ')}) || chr(13)`;
    const copy = `
      COPY (SELECT ${line} AS "${head}" FROM (SELECT ${values.join(', ')} FROM ${from}))
      TO ${sqlText(file.temporary)} (FORMAT csv, HEADER true, QUOTE '', ESCAPE '', USE_TMP_FILE false)`;
    await file.fill(() => this.#run(copy));
    await file.complete();
  }

  /** Writes the flagged items in order of severity: flagged.csv, in parts if necessary, and flagged.xlsx. */
  async #makeFlagged(columns: readonly FlaggedColumn[]): Promise<void> {
    const { create, signal } = this.#input;
    const { csvRows } = this.#bounds;
    await this.#run(`
      CREATE OR REPLACE TABLE ranks AS
      SELECT seq, row_number() OVER (ORDER BY decision = 'block' DESC, score DESC, seq) AS rank
      FROM ${VERDICTS_IN_TABLE} WHERE decision IN ('review', 'block') AND restricted_by IS NULL`);
    const [row] = await this.#database.query('SELECT count(*) FROM ranks', [], signal);
    const total = Number(row![0]);
    let before = 0;
    for (let part = 1; part === 1 || before < total; part++) {
      const rows = Math.min(csvRows, total - before);
      await this.#fillCsv(await create(flaggedCsv(part)), columns, ranked(before, before + rows), rows);
      before += rows;
    }
    if (total > 0) await this.#makeWorkbook(columns, total);
  }

  /** Writes the workbook of the most severe items. */
  async #makeWorkbook(columns: readonly FlaggedColumn[], total: number): Promise<void> {
    const { create, signal } = this.#input;
    const cells = columns.map(({ value, type }) => (type === 'number' ? `(${value})::DOUBLE` : value));
    const top = `SELECT ${cells.join(', ')} FROM ${ranked(0, this.#bounds.workbookRows)}`;
    this.#memory = MEMORY;
    await this.#database.load(`SET memory_limit = '${MEMORY}'`, [], signal);
    const batches = this.#database.stream(top, [this.#parquet], signal) as AsyncGenerator<WorkbookRow[]>;
    const rows = Math.min(total, this.#bounds.workbookRows);
    const file = await create(RUN_FILES.flaggedWorkbook);
    await writeWorkbook(columns, { batches, rows, total }, (pieces) => file.write(pieces));
    await file.complete();
    this.#rows.set(RUN_FILES.flaggedWorkbook, rows);
  }

  /**
   * Runs a statement over verdicts.parquet with little memory, because sorting takes all it gets. If that is not enough
   * for very long rows, runs it again with a higher limit, which is then kept.
   */
  async #run(sql: string): Promise<void> {
    const { signal } = this.#input;
    for (;;) {
      const memory = this.#memory;
      await this.#database.load(`SET memory_limit = '${memory}'`, [], signal);
      try {
        return await this.#database.load(sql, [this.#parquet], signal);
      } catch (error) {
        if (memory === MEMORY || !(error instanceof Failure)) throw error;
        this.#memory = MEMORY;
      }
    }
  }

  async #count(condition: string, from = VERDICTS_IN_TABLE): Promise<number> {
    const sql = `SELECT count(*) FROM ${from} WHERE ${condition}`;
    const [row] = await this.#database.query(sql, [this.#parquet], this.#input.signal);
    return Number(row![0]);
  }
}

const RESTRICTED = 'restricted_by IS NOT NULL';

/** The flagged items with ranks above `after`, up to `to`, in order. */
function ranked(after: number, to: number): string {
  return `(FROM ${VERDICTS_IN_TABLE} JOIN ranks USING (seq) WHERE rank > ${after} AND rank <= ${to} ORDER BY rank)`;
}

/** The macros that write cells as in RFC 4180, with numbers as in JSON where that is short. */
function macros(separator: string): string {
  return `${cellMacro(separator)}
    CREATE MACRO plain(number) AS
      CASE WHEN number = trunc(number) AND abs(number) < 1e15 THEN number::BIGINT::VARCHAR ELSE number::VARCHAR END;`;
}
