import { type DuckDBConnection, DuckDBInstance, type DuckDBType } from '@duckdb/node-api';
import {
  BATCH_ROWS,
  CHOICES_FD,
  COPY_FD,
  lineBytes,
  type Problem,
  type ReadRequest,
  type ReadRow,
  type Request,
  TABLE_FD,
} from './messages.ts';
import { mayHoldText, RowValues, textPaths } from './row-values.ts';
import { BATCH_BYTES, columnLabel } from '../../record.ts';

/** A path that reopens a descriptor of this process, even if its file was renamed or replaced. */
function pathOf(descriptor: number): string {
  return process.platform === 'linux' ? `/proc/self/fd/${descriptor}` : `/dev/fd/${descriptor}`;
}

const TABLE = `read_parquet('${pathOf(TABLE_FD)}', hive_partitioning = false)`;

/** Number of rows that DuckDB decodes at a time. */
const VECTOR_ROWS = 2048;

/** Maximum rows of a row group that is written, and maximum bytes it takes in the file that is read. */
const GROUP_ROWS = 20 * VECTOR_ROWS;
const GROUP_BYTES = 32 * 1024 * 1024;

/** Metadata in which a library describes its columns, which is wrong for a file that another library wrote. */
const SCHEMA_KEYS = ['ARROW:schema', 'pandas'];

/** A column or a group of them: its name, and the number of its children. */
type SchemaNode = readonly [name: string, children: bigint | null];

/** Starts DuckDB, restricted to reading and writing descriptors of this process and loading nothing. */
export async function openDatabase(): Promise<DuckDBInstance> {
  const instance = await DuckDBInstance.create(':memory:', {
    threads: '1',
    memory_limit: '512MB',
    // There is no place to spill to, so data that does not fit into memory fails.
    temp_directory: '',
    enable_external_file_cache: 'false',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
  });
  const connection = await instance.connect();
  const paths = [TABLE_FD, COPY_FD, CHOICES_FD].map((each) => `'${pathOf(each)}'`);
  await connection.run(`SET allowed_paths = [${paths.join(', ')}]`);
  await connection.run('SET enable_external_access = false');
  await connection.run('SET lock_configuration = true');
  connection.closeSync();
  return instance;
}

/** Classifies an error of DuckDB, which has no codes. Its text can quote the file, so it is not passed on. */
export function classifyError(error: unknown): Problem['kind'] {
  const text = error instanceof Error ? error.message.slice(0, 200) : '';
  if (text.startsWith('Invalid Input Error: Invalid string encoding')) return 'encoding';
  if (text.startsWith('Out of Memory Error')) return 'memory';
  if (/\bencrypt/i.test(text)) return 'encrypted';
  if (text.includes('Unsupported compression codec')) return 'codec';
  return 'damaged';
}

/** The table in the file of `TABLE_FD`. */
export class ParquetTable {
  readonly names: readonly string[];
  readonly types: readonly DuckDBType[];
  readonly rows: number;
  readonly #connection: DuckDBConnection;

  private constructor(
    connection: DuckDBConnection,
    { names, types, rows }: { names: readonly string[]; types: readonly DuckDBType[]; rows: number },
  ) {
    this.#connection = connection;
    this.names = names;
    this.types = types;
    this.rows = rows;
  }

  static async open(instance: DuckDBInstance): Promise<ParquetTable> {
    const connection = await instance.connect();
    try {
      const types = (await connection.run(`SELECT * FROM ${TABLE} LIMIT 0`)).columnTypes();
      const path = pathOf(TABLE_FD);
      // DuckDB renames columns with equal names.
      const schema = await connection.runAndReadAll(
        `SELECT name, num_children FROM parquet_schema('${path}')`,
      );
      const nodes = schema.getRows() as unknown as readonly SchemaNode[];
      const names: string[] = [];
      for (let at = 1; at < nodes.length; at = afterNode(nodes, at)) names.push(nodes[at]![0]);
      if (names.length !== types.length) throw new Error('the columns are not those of the schema');
      const counted = await connection.runAndReadAll(`SELECT num_rows FROM parquet_file_metadata('${path}')`);
      return new ParquetTable(connection, { names, types, rows: Number(counted.getRows()[0]![0]) });
    } catch (error) {
      connection.closeSync();
      throw error;
    }
  }

  get holdsText(): readonly boolean[] {
    return this.types.map(mayHoldText);
  }

  get nested(): readonly string[] {
    return this.types.flatMap((type, index) => textPaths(this.names[index]!, type));
  }

  /**
   * Yields the rows in batches, in order. If some cannot be read, reads them again in smaller ranges, down to the row
   * at fault: DuckDB holds back rows that it read before an error, and the values of a range are in memory at the same
   * time.
   */
  async *read(request: ReadRequest): AsyncGenerator<readonly ReadRow[], void> {
    let next = request.from;
    for (let range = request.range ?? Infinity; next < this.rows;) {
      try {
        const end = Math.min(this.rows, next + range);
        for await (const rows of this.#range(next, end, request)) {
          next = rows.at(-1)![0] + 1;
          yield rows;
        }
        if (next < end) throw new Error('there are fewer rows than the metadata say');
        range = Math.min(2 * range, request.range ?? VECTOR_ROWS);
      } catch (error) {
        if (range === 1) throw error;
        range = Math.min(range, VECTOR_ROWS) / 2;
      }
    }
  }

  async *#range(from: number, end: number, request: ReadRequest): AsyncGenerator<readonly ReadRow[], void> {
    const aliases = this.names.map((_, index) => `c${index}`).join(', ');
    const selected = ['file_row_number', ...request.columns.map((index) => `c${index}`)].join(', ');
    const result = await this.#connection.stream(
      `SELECT ${selected} FROM ${TABLE} AS t(${aliases})
       WHERE file_row_number >= ${from} AND file_row_number < ${end}`,
    );
    for (;;) {
      const chunk = await result.fetchChunk();
      if (chunk === null || chunk.rowCount === 0) return;
      const numbers = chunk.getColumnValues(0) as readonly bigint[];
      // A string that is stored once and repeated is copied only here, once per row.
      const columns = request.columns.map((_, index) => chunk.getColumnVector(index + 1));
      let rows: ReadRow[] = [];
      let bytes = 0;
      for (const [at, number] of numbers.entries()) {
        const values = new Array<unknown>(this.names.length).fill(null);
        const row = new RowValues();
        request.columns.forEach((column, index) => {
          values[column] = row.toJson(this.types[column]!, columns[index]!.getItem(at));
        });
        bytes += row.bytes;
        rows.push([Number(number), row.bytes, isTooLarge(row, values, request) ? null : values]);
        if (rows.length < BATCH_ROWS && bytes < BATCH_BYTES) continue;
        yield rows;
        rows = [];
        bytes = 0;
      }
      if (rows.length > 0) yield rows;
    }
  }

  /** Finds the first column with a string that is not UTF-8, and returns its label; null if there is none. */
  async findUndecodable(): Promise<string | null> {
    const aliases = this.names.map((_, index) => `c${index}`).join(', ');
    for (const [index, name] of this.names.entries()) {
      if (!mayHoldText(this.types[index]!)) continue;
      try {
        await this.#connection.run(`SELECT max(length(c${index}::VARCHAR)) FROM ${TABLE} AS t(${aliases})`);
      } catch {
        return columnLabel(name, index + 1);
      }
    }
    return null;
  }

  /** Copies the chosen rows, in order, and adds a column if asked to. Returns the number of rows. */
  async copy({ addedColumn }: Extract<Request, { readonly op: 'copy' }>, bytes: number): Promise<number> {
    const aliases = this.names.map((_, index) => `c${index}`).join(', ');
    const columns = this.names.map((name, index) => `c${index} AS ${quoted(name)}`);
    if (addedColumn !== null) columns.push(`added AS ${quoted(addedColumn)}`);
    const perRow = bytes / Math.max(1, this.rows);
    const groupRows = Math.max(VECTOR_ROWS, Math.min(GROUP_ROWS, GROUP_BYTES / Math.max(1, perRow)));
    const reader = await this.#connection.runAndReadAll(
      `COPY (
         SELECT ${columns.join(', ')} FROM (SELECT * FROM ${TABLE} AS t(${aliases}))
         POSITIONAL JOIN read_csv('${pathOf(CHOICES_FD)}', auto_detect = false, header = false, delim = ',',
           quote = '"', escape = '"', columns = {'is_kept': 'BOOLEAN', 'added': 'VARCHAR'})
         WHERE is_kept
       ) TO '${pathOf(COPY_FD)}' (FORMAT parquet, USE_TMP_FILE false, COMPRESSION ${await this.#codec()},
         ROW_GROUP_SIZE ${VECTOR_ROWS * Math.floor(groupRows / VECTOR_ROWS)}${await this.#metadata(addedColumn !== null)})`,
    );
    return Number(reader.getRows()[0]![0]);
  }

  async #codec(): Promise<string> {
    const query = `SELECT compression FROM parquet_metadata('${pathOf(TABLE_FD)}') LIMIT 1`;
    const codec = (await this.#connection.runAndReadAll(query)).getRows()[0]?.[0];
    return typeof codec === 'string' ? codec.toLowerCase() : 'snappy';
  }

  /** Returns the file's metadata from its writer that still holds for the copy, as an option of COPY. */
  async #metadata(isAdded: boolean): Promise<string> {
    const left = isAdded ? [...SCHEMA_KEYS, 'huggingface'] : SCHEMA_KEYS;
    const query = `SELECT decode(key), decode(value) FROM parquet_kv_metadata('${pathOf(TABLE_FD)}')`;
    const found = (await this.#connection.runAndReadAll(query)).getRows() as unknown as readonly (readonly [
      string,
      string,
    ])[];
    const kept = new Map(found.filter(([key]) => !left.includes(key)));
    if (kept.size === 0) return '';
    const pairs = [...kept].map(([key, value]) => `${quoted(key)}: '${value.replaceAll("'", "''")}'`);
    return `, KV_METADATA {${pairs.join(', ')}}`;
  }
}

function isTooLarge({ bytes }: RowValues, values: readonly unknown[], { rowBytes }: ReadRequest): boolean {
  if (bytes > rowBytes) return true;
  // An escaped character takes up to six bytes.
  return bytes * 6 > lineBytes(rowBytes) && Buffer.byteLength(JSON.stringify(values)) > lineBytes(rowBytes);
}

/** Index of the first node after a node and its descendants. */
function afterNode(nodes: readonly SchemaNode[], index: number): number {
  let open = 1;
  let at = index;
  while (open > 0 && at < nodes.length) open += Number(nodes[at++]![1] ?? 0) - 1;
  return at;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
