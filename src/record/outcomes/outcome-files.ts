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
import type { TextTarget } from './line-files.ts';
import { VerdictTable } from './verdict-table.ts';

/** Where the content of a table goes. */
export interface TableTarget extends TextTarget {
  /** To be called after the last `write`. */
  complete(): Promise<unknown>;
}

/** A line of verdicts.jsonl: its bytes with the newline, and parsed. */
interface WrittenOutcome {
  readonly bytes: Buffer;
  readonly line: OutcomeLine;
}

interface Tables<T extends TableTarget> {
  readonly all: T;
  readonly flagged: FlaggedTables<T>;
}

/** Renders the tables that are made from the outcomes of a run. */
export class OutcomeFiles<T extends TableTarget> {
  readonly #create: (name: string) => Promise<T>;
  readonly #policy: Policy;
  readonly #csv: CsvTable;
  /** Made with the first restricted item. */
  #restricted: T | null = null;
  /** Null without the format `csv`. */
  readonly #tables: Tables<T> | null;
  /** Null without the format `parquet`. */
  readonly #parquet: VerdictTable | null;
  readonly #rows: Map<string, number>;
  /** Whether the tables have columns for streams. */
  readonly #withStreams: boolean;

  private constructor(
    create: (name: string) => Promise<T>,
    rows: Map<string, number>,
    policy: Policy,
    csv: CsvTable,
    targets: {
      tables: Tables<T> | null;
      parquet: VerdictTable | null;
      withStreams: boolean;
    },
  ) {
    this.#create = create;
    this.#rows = rows;
    this.#policy = policy;
    this.#csv = csv;
    this.#tables = targets.tables;
    this.#parquet = targets.parquet;
    this.#withStreams = targets.withStreams;
  }

  /** `create` is called once per file, before its first text; the caller completes the files. */
  static async begin<T extends TableTarget>(
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
    const tables = formats.includes('csv') ? await beginTables() : null;
    const parquet = formats.includes('parquet') ? tableIn(await create(RUN_FILES.verdictsParquet)) : null;
    return new OutcomeFiles(create, rows, config.policy, csv, {
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
  async add(outcomes: readonly WrittenOutcome[]): Promise<void> {
    const lines = outcomes.map(({ line }) => line);
    const restricted = lines.filter((line) => restrictedBy(this.#policy, line) !== null);
    await this.#addRestricted(restricted);
    await this.#parquet?.add(lines);
    if (this.#parquet !== null) this.#count(RUN_FILES.verdictsParquet, lines.length);
    if (this.#tables === null) return;
    this.#count(RUN_FILES.verdictsCsv, lines.length);
    await this.#tables.all.write(lines.map((line) => this.#csv.row(verdictCells(line, this.#withStreams))));
    const apart = new Set(restricted);
    for (const { line, bytes } of outcomes) {
      if ((line.decision !== 'review' && line.decision !== 'block') || apart.has(line)) continue;
      await this.#tables.flagged.add(line, bytes);
    }
  }

  /** To be called once, after the last outcome. */
  async end(signal: AbortSignal): Promise<void> {
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
}

function tableIn(target: TextTarget): VerdictTable {
  return new VerdictTable((bytes) => target.write([bytes]));
}
