import { type RunConfig } from '../config/run-config.ts';
import { FinalFile, type FileEntry, type FinalWriter } from './final-file.ts';
import { RUN_FILES, flaggedCsv } from './run-files.ts';
import { type LoggedOutcome } from './shard-cursor.ts';
import { tableHead, tableRows } from './spreadsheet.ts';

/** Spreadsheets take a little over a million rows; the head is one. */
const FLAGGED_ROWS = 999_999;

/** The final files made of outcomes: verdicts, errors, and the tables for people. */
export class OutcomeFiles {
  readonly #writer: FinalWriter;
  readonly #flaggedRows: number;
  readonly #files: FinalFile[] = [];
  readonly #verdicts: FinalFile;
  readonly #errors: FinalFile;
  /** Null when no tables are wanted. */
  readonly #tables: { readonly all: FinalFile; flagged: FinalFile; rows: number; parts: number } | null;

  private constructor(
    writer: FinalWriter,
    flaggedRows: number,
    files: { verdicts: FinalFile; errors: FinalFile; all: FinalFile | null; flagged: FinalFile | null },
  ) {
    this.#writer = writer;
    this.#flaggedRows = flaggedRows;
    this.#verdicts = files.verdicts;
    this.#errors = files.errors;
    const { all, flagged } = files;
    this.#tables = all === null || flagged === null ? null : { all, flagged, rows: 0, parts: 1 };
    this.#files = [files.verdicts, files.errors, all, flagged].filter((file) => file !== null);
  }

  /** `flaggedRows` is the most rows in one flagged.csv; default: what a spreadsheet takes. */
  static async create(
    writer: FinalWriter,
    formats: RunConfig['output']['formats'],
    flaggedRows = FLAGGED_ROWS,
  ): Promise<OutcomeFiles> {
    const csv = formats.includes('csv');
    const files = new OutcomeFiles(writer, flaggedRows, {
      verdicts: await FinalFile.create(RUN_FILES.verdicts, writer),
      errors: await FinalFile.create(RUN_FILES.errors, writer),
      all: csv ? await FinalFile.create(RUN_FILES.verdictsCsv, writer) : null,
      flagged: csv ? await FinalFile.create(flaggedCsv(1), writer) : null,
    });
    await files.#tables?.all.write(tableHead());
    await files.#tables?.flagged.write(tableHead());
    return files;
  }

  /** Takes outcomes in the order they are to stand in. */
  async add(outcomes: readonly LoggedOutcome[]): Promise<void> {
    let verdicts = '';
    let errors = '';
    for (const { text, line } of outcomes) {
      verdicts += `${text}\n`;
      if (line.status === 'error') errors += `${text}\n`;
    }
    await this.#verdicts.write(verdicts);
    await this.#errors.write(errors);
    if (this.#tables === null) return;
    const lines = outcomes.map(({ line }) => line);
    await this.#tables.all.write(tableRows(lines));
    let flagged = lines.filter(({ decision }) => decision === 'review' || decision === 'block');
    while (flagged.length > 0) {
      if (this.#tables.rows === this.#flaggedRows) {
        this.#tables.flagged = await FinalFile.create(flaggedCsv(++this.#tables.parts), this.#writer);
        this.#files.push(this.#tables.flagged);
        this.#tables.rows = 0;
        await this.#tables.flagged.write(tableHead());
      }
      const now = flagged.slice(0, this.#flaggedRows - this.#tables.rows);
      await this.#tables.flagged.write(tableRows(now));
      this.#tables.rows += now.length;
      flagged = flagged.slice(now.length);
    }
  }

  /** Makes the files durable under their temporary names. */
  async complete(): Promise<FileEntry[]> {
    const entries: FileEntry[] = [];
    for (const file of this.#files) entries.push(await file.complete());
    return entries;
  }

  async publish(): Promise<void> {
    for (const file of this.#files) await file.publish();
  }

  async discard(): Promise<void> {
    for (const file of this.#files) await file.discard();
  }
}
