import { replaysGenerations, type RunConfig } from '../../config/run-config.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { RUN_FILES, flaggedCsv } from '../../files/run-files.ts';
import { BatchResults, type BatchLine } from './batch-results.ts';
import type { ConversationLine } from './conversations.ts';
import { restrictedBy, RESTRICTED_HEAD, restrictedRow } from './restricted.ts';
import type { LoggedOutcome } from './shard-cursor.ts';
import { tableHead, tableRow } from './spreadsheet.ts';
import { VerdictTable } from './verdict-table.ts';

/** Max rows of one flagged.csv: spreadsheets take 1,048,576, including the header. */
const MAX_FLAGGED_ROWS = 999_999;

/** The target of a file's text: a file when a run is finished, a comparison when it is verified. */
export interface TextTarget {
  write(text: string | Buffer | readonly string[]): Promise<void>;
  /** To be called after the last `write`. */
  complete(): Promise<unknown>;
}

interface Tables<T> {
  readonly all: T;
  flagged: T;
  /** Rows in the current flagged.csv, and the number of these files. */
  rows: number;
  parts: number;
}

/**
 * Renders the final files that consist of outcomes: verdicts.jsonl, errors.jsonl, conversations.jsonl, the tables, and the
 * results of batch requests.
 */
export class OutcomeFiles<T extends TextTarget> {
  readonly #create: (name: string) => Promise<T>;
  readonly #flaggedRows: number;
  readonly #verdicts: T;
  readonly #errors: T;
  /** Made with the first conversation. */
  #conversations: T | null = null;
  /** Made with the first restricted item. */
  #restricted: T | null = null;
  /** Null without the format `csv`. */
  readonly #tables: Tables<T> | null;
  /** Null without the format `parquet`. */
  readonly #parquet: VerdictTable | null;
  readonly #batch = new BatchResults();
  /** Made with the first request that was answered, and the first that was not. */
  #batchOutput: T | null = null;
  #batchErrors: T | null = null;
  /** Whether the tables have columns for streams. */
  readonly #withStreams: boolean;

  private constructor(
    create: (name: string) => Promise<T>,
    flaggedRows: number,
    targets: {
      verdicts: T;
      errors: T;
      tables: Tables<T> | null;
      parquet: VerdictTable | null;
      withStreams: boolean;
    },
  ) {
    this.#create = create;
    this.#flaggedRows = flaggedRows;
    this.#verdicts = targets.verdicts;
    this.#errors = targets.errors;
    this.#tables = targets.tables;
    this.#parquet = targets.parquet;
    this.#withStreams = targets.withStreams;
  }

  /**
   * `create` is called once per file, before its first text; the caller completes the files. `flaggedRows` is the max
   * rows of one flagged.csv; default: what a spreadsheet takes.
   */
  static async begin<T extends TextTarget>(
    create: (name: string) => Promise<T>,
    config: Pick<RunConfig, 'output' | 'sources'>,
    flaggedRows = MAX_FLAGGED_ROWS,
  ): Promise<OutcomeFiles<T>> {
    const withStreams = replaysGenerations(config);
    const table = async (name: string): Promise<T> => {
      const target = await create(name);
      await target.write(tableHead(withStreams));
      return target;
    };
    const verdicts = await create(RUN_FILES.verdicts);
    const errors = await create(RUN_FILES.errors);
    const tables = config.output.formats.includes('csv')
      ? { all: await table(RUN_FILES.verdictsCsv), flagged: await table(flaggedCsv(1)), rows: 0, parts: 1 }
      : null;
    const parquet = config.output.formats.includes('parquet')
      ? tableIn(await create(RUN_FILES.verdictsParquet))
      : null;
    return new OutcomeFiles(create, flaggedRows, { verdicts, errors, tables, parquet, withStreams });
  }

  /** To be called in corpus order. */
  async add(outcomes: readonly LoggedOutcome[]): Promise<void> {
    for (const span of spans(outcomes)) await this.#verdicts.write(span);
    const errors = outcomes.filter(({ line }) => line.status === 'error');
    for (const span of spans(errors)) await this.#errors.write(span);
    const lines = outcomes.map(({ line }) => line);
    const restricted = lines.filter((line) => restrictedBy(line) !== null);
    await this.#addRestricted(restricted);
    await this.#parquet?.add(lines);
    await this.#addBatchLines(lines.map((line) => this.#batch.add(line)));
    if (this.#tables === null) return;
    await this.#tables.all.write(this.#rows(lines));
    const apart = new Set(restricted);
    await this.#addFlagged(
      this.#tables,
      lines.filter((line) => (line.decision === 'review' || line.decision === 'block') && !apart.has(line)),
    );
  }

  /** To be called in corpus order. */
  async addConversations(lines: readonly ConversationLine[]): Promise<void> {
    if (lines.length === 0) return;
    this.#conversations ??= await this.#create(RUN_FILES.conversations);
    await this.#conversations.write(lines.map((line) => `${JSON.stringify(line)}\n`));
  }

  /** To be called once, after the last outcome. */
  async end(): Promise<void> {
    await this.#addBatchLines([this.#batch.end()]);
    await this.#parquet?.end();
  }

  async #addRestricted(lines: readonly OutcomeLine[]): Promise<void> {
    if (lines.length === 0) return;
    if (this.#restricted === null) {
      this.#restricted = await this.#create(RUN_FILES.restricted);
      await this.#restricted.write(RESTRICTED_HEAD);
    }
    await this.#restricted.write(lines.map(restrictedRow));
  }

  async #addBatchLines(lines: readonly (BatchLine | null)[]): Promise<void> {
    const found = lines.filter((line) => line !== null);
    const output = found.filter(({ isError }) => !isError).map(({ text }) => text);
    const errors = found.filter(({ isError }) => isError).map(({ text }) => text);
    if (output.length > 0) {
      this.#batchOutput ??= await this.#create(RUN_FILES.batchOutput);
      await this.#batchOutput.write(output);
    }
    if (errors.length > 0) {
      this.#batchErrors ??= await this.#create(RUN_FILES.batchErrors);
      await this.#batchErrors.write(errors);
    }
  }

  #rows(lines: readonly OutcomeLine[]): string[] {
    return lines.map((line) => tableRow(line, this.#withStreams));
  }

  async #addFlagged(tables: Tables<T>, lines: readonly OutcomeLine[]): Promise<void> {
    let left = lines;
    while (left.length > 0) {
      if (tables.rows === this.#flaggedRows) {
        await tables.flagged.complete();
        tables.parts++;
        tables.rows = 0;
        tables.flagged = await this.#create(flaggedCsv(tables.parts));
        await tables.flagged.write(tableHead(this.#withStreams));
      }
      const now = left.slice(0, this.#flaggedRows - tables.rows);
      await tables.flagged.write(this.#rows(now));
      tables.rows += now.length;
      left = left.slice(now.length);
    }
  }
}

/** The bytes of outcomes; neighbours are one span. */
function* spans(outcomes: readonly LoggedOutcome[]): Generator<Buffer> {
  for (let index = 0; index < outcomes.length;) {
    const { lines, start } = outcomes[index]!;
    let { end } = outcomes[index++]!;
    for (; index < outcomes.length; index++) {
      const next = outcomes[index]!;
      if (next.lines !== lines || next.start !== end) break;
      end = next.end;
    }
    yield lines.subarray(start, end);
  }
}

function tableIn(target: TextTarget): VerdictTable {
  return new VerdictTable((bytes) => target.write(bytes));
}
