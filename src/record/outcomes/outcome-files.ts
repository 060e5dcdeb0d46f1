import { replaysGenerations, type RunConfig } from '../../config/run-config.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import type { Policy } from '../../domain/policy.ts';
import { restrictedBy } from '../../domain/restriction/restricted.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { CsvTable } from '../tables/csv.ts';
import { flaggedColumns } from '../tables/flagged-columns.ts';
import { FlaggedTables, type FlaggedBounds } from '../tables/flagged-tables.ts';
import { restrictedCells, RESTRICTED_COLUMNS } from '../tables/restricted-rows.ts';
import { verdictCells, verdictColumns } from '../tables/verdict-rows.ts';
import { BatchResults, type BatchLine } from './batch-results.ts';
import type { ConversationLine } from './conversations.ts';
import type { LoggedOutcome } from './shard-cursor.ts';
import { VerdictTable } from './verdict-table.ts';

/** The target of a file's text: a file when a run is finished, a comparison when it is verified. */
export interface TextTarget {
  write(text: string | Buffer | readonly string[]): Promise<void>;
  /** To be called after the last `write`. */
  complete(): Promise<unknown>;
}

interface Tables<T extends TextTarget> {
  readonly all: T;
  readonly flagged: FlaggedTables<T>;
}

/**
 * Renders the final files that consist of outcomes: verdicts.jsonl, errors.jsonl, conversations.jsonl, the tables, and the
 * results of batch requests.
 */
export class OutcomeFiles<T extends TextTarget> {
  readonly #create: (name: string) => Promise<T>;
  readonly #policy: Policy;
  readonly #csv: CsvTable;
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
  readonly #rows: Map<string, number>;
  readonly #batch = new BatchResults();
  /** Made with the first request that was answered, and the first that was not. */
  #batchOutput: T | null = null;
  #batchErrors: T | null = null;
  /** Whether the tables have columns for streams. */
  readonly #withStreams: boolean;

  private constructor(
    create: (name: string) => Promise<T>,
    rows: Map<string, number>,
    policy: Policy,
    csv: CsvTable,
    targets: {
      verdicts: T;
      errors: T;
      tables: Tables<T> | null;
      parquet: VerdictTable | null;
      withStreams: boolean;
    },
  ) {
    this.#create = create;
    this.#rows = rows;
    this.#policy = policy;
    this.#csv = csv;
    this.#verdicts = targets.verdicts;
    this.#errors = targets.errors;
    this.#tables = targets.tables;
    this.#parquet = targets.parquet;
    this.#withStreams = targets.withStreams;
  }

  /** `create` is called once per file, before its first text; the caller completes the files. */
  static async begin<T extends TextTarget>(
    create: (name: string) => Promise<T>,
    config: Pick<RunConfig, 'output' | 'policy' | 'sources'>,
    bounds?: FlaggedBounds,
  ): Promise<OutcomeFiles<T>> {
    const { formats, csvSeparator } = config.output;
    const withStreams = replaysGenerations(config);
    const csv = new CsvTable(csvSeparator);
    const rows = new Map<string, number>();
    const beginTables = async (): Promise<Tables<T>> => {
      const all = await create(RUN_FILES.verdictsCsv);
      await all.write(csv.head(verdictColumns(withStreams)));
      const flagged = await FlaggedTables.begin({
        create,
        csv,
        rows,
        columns: flaggedColumns(config),
        bounds,
      });
      return { all, flagged };
    };
    const verdicts = await create(RUN_FILES.verdicts);
    const errors = await create(RUN_FILES.errors);
    const tables = formats.includes('csv') ? await beginTables() : null;
    const parquet = formats.includes('parquet') ? tableIn(await create(RUN_FILES.verdictsParquet)) : null;
    return new OutcomeFiles(create, rows, config.policy, csv, {
      verdicts,
      errors,
      tables,
      parquet,
      withStreams,
    });
  }

  /** Rows, or lines, of each file, without headers. */
  get rows(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#rows);
  }

  /** To be called in corpus order. */
  async add(outcomes: readonly LoggedOutcome[]): Promise<void> {
    for (const span of spans(outcomes)) await this.#verdicts.write(span);
    const errors = outcomes.filter(({ line }) => line.status === 'error');
    for (const span of spans(errors)) await this.#errors.write(span);
    this.#count(RUN_FILES.verdicts, outcomes.length);
    this.#count(RUN_FILES.errors, errors.length);
    const lines = outcomes.map(({ line }) => line);
    const restricted = lines.filter((line) => restrictedBy(this.#policy, line) !== null);
    await this.#addRestricted(restricted);
    await this.#parquet?.add(lines);
    if (this.#parquet !== null) this.#count(RUN_FILES.verdictsParquet, lines.length);
    await this.#addBatchLines(lines.map((line) => this.#batch.add(line)));
    if (this.#tables === null) return;
    this.#count(RUN_FILES.verdictsCsv, lines.length);
    await this.#tables.all.write(lines.map((line) => this.#csv.row(verdictCells(line, this.#withStreams))));
    const apart = new Set(restricted);
    for (const { line, lines: bytes, start, end } of outcomes) {
      if ((line.decision !== 'review' && line.decision !== 'block') || apart.has(line)) continue;
      await this.#tables.flagged.add(line, bytes.subarray(start, end));
    }
  }

  /** To be called in corpus order. */
  async addConversations(lines: readonly ConversationLine[]): Promise<void> {
    if (lines.length === 0) return;
    this.#count(RUN_FILES.conversations, lines.length);
    this.#conversations ??= await this.#create(RUN_FILES.conversations);
    await this.#conversations.write(lines.map((line) => `${JSON.stringify(line)}\n`));
  }

  /** To be called once, after the last outcome. */
  async end(signal: AbortSignal): Promise<void> {
    await this.#addBatchLines([this.#batch.end()]);
    await this.#parquet?.end();
    await this.#tables?.flagged.end(signal);
  }

  /** Closes temporary files, which the final files do not need. Idempotent. */
  async close(): Promise<void> {
    await this.#tables?.flagged.close();
  }

  async #addRestricted(lines: readonly OutcomeLine[]): Promise<void> {
    if (lines.length === 0) return;
    if (this.#restricted === null) {
      this.#restricted = await this.#create(RUN_FILES.restricted);
      await this.#restricted.write(this.#csv.head(RESTRICTED_COLUMNS));
    }
    this.#count(RUN_FILES.restricted, lines.length);
    await this.#restricted.write(lines.map((line) => this.#csv.row(restrictedCells(line, this.#policy))));
  }

  #count(name: string, rows: number): void {
    this.#rows.set(name, (this.#rows.get(name) ?? 0) + rows);
  }

  async #addBatchLines(lines: readonly (BatchLine | null)[]): Promise<void> {
    const found = lines.filter((line) => line !== null);
    const output = found.filter(({ isError }) => !isError).map(({ text }) => text);
    const errors = found.filter(({ isError }) => isError).map(({ text }) => text);
    if (output.length > 0) {
      this.#batchOutput ??= await this.#create(RUN_FILES.batchOutput);
      this.#count(RUN_FILES.batchOutput, output.length);
      await this.#batchOutput.write(output);
    }
    if (errors.length > 0) {
      this.#batchErrors ??= await this.#create(RUN_FILES.batchErrors);
      this.#count(RUN_FILES.batchErrors, errors.length);
      await this.#batchErrors.write(errors);
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
