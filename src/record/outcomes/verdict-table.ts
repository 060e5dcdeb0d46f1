import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { OutcomeLine, StreamLine } from '../../domain/outcome.ts';
import { CATEGORY_KEYS } from '../../domain/taxonomy.ts';

type ColumnType = 'text' | 'integer' | 'number' | 'yes-or-no' | 'time';

/** A column: its name, its type, and the value of a row. */
type Column = readonly [
  name: string,
  type: ColumnType,
  valueOf: (line: OutcomeLine) => string | number | boolean | null | undefined,
];

function streamColumn(name: keyof StreamLine, type: ColumnType): Column {
  return [`stream_${name}`, type, ({ stream }) => stream?.[name]];
}

/** The columns in order. All may be null, so that a reader finds the same types in every run. */
const COLUMNS: readonly Column[] = [
  // The first one, so that a walk over a corpus finds the name of the run at the beginning of the file.
  ['run', 'text', (line) => line.run],
  ['seq', 'integer', (line) => line.seq],
  ['id', 'text', (line) => line.id],
  ['path', 'text', ({ source }) => source.path],
  ['row', 'integer', ({ source }) => source.row],
  ['line', 'integer', ({ source }) => source.line],
  ['file_sha256', 'text', ({ source }) => source.sha256],
  ['file_bytes', 'integer', ({ source }) => source.bytes],
  ['part', 'text', (line) => line.part],
  ['turn', 'integer', (line) => line.turn],
  ['modality', 'text', (line) => line.modality],
  ['request_type', 'text', (line) => line.request_type],
  ['content_sha256', 'text', (line) => line.content_sha256],
  ['status', 'text', (line) => line.status],
  ['decision', 'text', (line) => line.decision],
  ['decided_by', 'text', (line) => line.decided_by],
  ['score', 'number', (line) => line.score],
  ['flagged', 'yes-or-no', (line) => line.flagged],
  ...CATEGORY_KEYS.map((key): Column => [key, 'number', (line) => line.subcategory_scores?.[key]]),
  ['category_flags', 'text', (line) => line.subcategory_flags?.join(',')],
  ['coverage_unit', 'text', ({ coverage }) => coverage?.unit],
  ['coverage_judged', 'number', ({ coverage }) => coverage?.judged],
  ['coverage_total', 'number', ({ coverage }) => coverage?.total],
  ['coverage_worst_at', 'number', ({ coverage }) => coverage?.worst_at],
  ['same_as', 'integer', (line) => line.same_as],
  ['reused_from', 'text', (line) => line.reused_from],
  ['guard', 'text', (line) => line.endpoint],
  ['fingerprint', 'text', (line) => line.fingerprint],
  ['latency_ms', 'number', (line) => line.latency_ms],
  ['attempts', 'integer', (line) => line.attempts],
  streamColumn('chunks', 'integer'),
  streamColumn('first_caution_seq', 'integer'),
  streamColumn('shown_share_at_caution', 'number'),
  streamColumn('first_flagged_seq', 'integer'),
  streamColumn('shown_share_at_flag', 'number'),
  ['snippet', 'text', (line) => line.snippet],
  ['moderated_at', 'time', (line) => line.moderated_at],
  ['error_code', 'text', ({ error }) => error?.code],
  ['error_message', 'text', ({ error }) => error?.message],
  ['error_retryable', 'yes-or-no', ({ error }) => error?.retryable],
];

/** A column as the library describes it. */
type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]['schema'][number];

const TYPES: Readonly<Record<ColumnType, Omit<SchemaElement, 'name'>>> = {
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } },
  integer: { type: 'INT64' },
  number: { type: 'DOUBLE' },
  'yes-or-no': { type: 'BOOLEAN' },
  time: {
    type: 'INT64',
    converted_type: 'TIMESTAMP_MILLIS',
    logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' },
  },
};

const SCHEMA: SchemaElement[] = [
  { name: 'verdicts', num_children: COLUMNS.length },
  ...COLUMNS.map(([name, type]): SchemaElement => ({ name, repetition_type: 'OPTIONAL', ...TYPES[type] })),
];

/** Rows per row group, which are held. */
const GROUP_ROWS = 10_000;

/** Renders verdicts.parquet. The same outcomes always give the same bytes. */
export class VerdictTable {
  readonly #bytes = new ByteWriter();
  readonly #parquet = new ParquetWriter({ writer: this.#bytes, schema: SCHEMA, createdBy: 'guardsweep' });
  readonly #write: (bytes: Buffer) => Promise<void>;
  #waiting: OutcomeLine[] = [];

  constructor(write: (bytes: Buffer) => Promise<void>) {
    this.#write = write;
  }

  /** To be called in corpus order. */
  async add(lines: readonly OutcomeLine[]): Promise<void> {
    for (const line of lines) {
      this.#waiting.push(line);
      if (this.#waiting.length === GROUP_ROWS) await this.#endGroup();
    }
  }

  /** To be called once, after the last row. */
  async end(): Promise<void> {
    if (this.#waiting.length > 0) await this.#endGroup();
    await this.#parquet.finish();
    await this.#flush();
  }

  async #endGroup(): Promise<void> {
    const columnData = COLUMNS.map(([name, type, valueOf]) => ({
      name,
      data: this.#waiting.map((line) => stored(type, valueOf(line) ?? null)),
    }));
    this.#waiting = [];
    await this.#parquet.write({ columnData, rowGroupSize: GROUP_ROWS });
    await this.#flush();
  }

  async #flush(): Promise<void> {
    await this.#write(Buffer.from(this.#bytes.getBytes()));
    this.#bytes.index = 0;
  }
}

function stored(type: ColumnType, value: string | number | boolean | null): unknown {
  if (value === null) return null;
  if (type === 'integer') return BigInt(value);
  return type === 'time' ? new Date(value as string) : value;
}
