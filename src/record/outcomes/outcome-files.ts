import { replaysGenerations, type RunConfig } from '../../config/run-config.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { RUN_FILES, flaggedCsv } from '../../files/run-files.ts';
import type { ConversationLine } from './conversations.ts';
import type { LoggedOutcome } from './shard-cursor.ts';
import { tableHead, tableRow } from './spreadsheet.ts';

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

/** Renders the final files that consist of outcomes: verdicts.jsonl, errors.jsonl, conversations.jsonl and the CSV tables. */
export class OutcomeFiles<T extends TextTarget> {
  readonly #create: (name: string) => Promise<T>;
  readonly #flaggedRows: number;
  readonly #verdicts: T;
  readonly #errors: T;
  /** Made with the first conversation. */
  #conversations: T | null = null;
  /** Null without the format `csv`. */
  readonly #tables: Tables<T> | null;
  /** Whether the tables have columns for streams. */
  readonly #withStreams: boolean;

  private constructor(
    create: (name: string) => Promise<T>,
    flaggedRows: number,
    targets: { verdicts: T; errors: T; tables: Tables<T> | null; withStreams: boolean },
  ) {
    this.#create = create;
    this.#flaggedRows = flaggedRows;
    this.#verdicts = targets.verdicts;
    this.#errors = targets.errors;
    this.#tables = targets.tables;
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
    return new OutcomeFiles(create, flaggedRows, { verdicts, errors, tables, withStreams });
  }

  /** To be called in corpus order. */
  async add(outcomes: readonly LoggedOutcome[]): Promise<void> {
    for (const span of spans(outcomes)) await this.#verdicts.write(span);
    const errors = outcomes.filter(({ line }) => line.status === 'error');
    for (const span of spans(errors)) await this.#errors.write(span);
    if (this.#tables === null) return;
    const lines = outcomes.map(({ line }) => line);
    await this.#tables.all.write(this.#rows(lines));
    await this.#addFlagged(
      this.#tables,
      lines.filter(({ decision }) => decision === 'review' || decision === 'block'),
    );
  }

  /** To be called in corpus order. */
  async addConversations(lines: readonly ConversationLine[]): Promise<void> {
    if (lines.length === 0) return;
    this.#conversations ??= await this.#create(RUN_FILES.conversations);
    await this.#conversations.write(lines.map((line) => `${JSON.stringify(line)}\n`));
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
