import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type * as DuckDB from '@duckdb/node-api';
import { Failure } from '../domain/failure.ts';
import { DIRECTORY_MODE } from '../files/create-file.ts';
import { WaitList } from '../flow/wait-list.ts';
import { loadDuckDB, translateError } from './duckdb.ts';

/** Limit on the temporary data that a query spills to disk. */
const MAX_SPILLED = '16GB';
/** An interruption that arrives before its query has started has no effect, so it is repeated. */
const INTERRUPT_EVERY_MS = 20;

const FILE_NAME = 'index.duckdb';

export type Row = readonly DuckDB.DuckDBValue[];

export interface DatabaseLimits {
  /** Buffer memory; data that does not fit is spilled to the database's folder. */
  readonly memory: string;
  readonly threads: number;
  /** Concurrent queries; each keeps one of Node's four threads busy. Further queries wait for their turn. */
  readonly connections: number;
  /** Null if queries have no time limit. */
  readonly queryTimeoutMs: number | null;
  /** Returns the rows of an unordered query in the order they are read, which takes more memory. */
  readonly inOrder: boolean;
  /**
   * Freed memory that each of Node's threads may keep for its next step. Null for the default, up to 128 MB. A lower
   * limit costs time.
   */
  readonly keptMemory: string | null;
}

/** For a single analysis at a time: more threads would cost memory and gain little. */
const ONE_BY_ONE: DatabaseLimits = {
  ...{ memory: '128MB', threads: 1, connections: 1 },
  ...{ queryTimeoutMs: null, inOrder: false, keptMemory: '1MB' },
};

/** For writing two files at a time. Keeps the order in which rows are read. */
const IN_ORDER: DatabaseLimits = {
  ...ONE_BY_ONE,
  ...{ memory: '768MB', connections: 2, inOrder: true, keptMemory: '64MB' },
};

/**
 * A DuckDB database in a private folder. While it is loading, SQL can read files; `lock` ends that for good. SQL comes
 * only from our own code, and all values are parameters.
 *
 *   create ─► loading ─ lock ─► serving ─ close ─► closed
 */
export class Database {
  /** Private to this process. */
  readonly folder: string;
  /** Path of the file that holds the tables kept on disk. */
  get path(): string {
    return join(this.folder, FILE_NAME);
  }
  readonly #queryTimeoutMs: number | null;
  readonly #instance: DuckDB.DuckDBInstance;
  readonly #free: DuckDB.DuckDBConnection[];
  readonly #connections: readonly DuckDB.DuckDBConnection[];
  readonly #turns = new WaitList();
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  private constructor(
    folder: string,
    queryTimeoutMs: number | null,
    instance: DuckDB.DuckDBInstance,
    connections: readonly DuckDB.DuckDBConnection[],
  ) {
    this.folder = folder;
    this.#queryTimeoutMs = queryTimeoutMs;
    this.#instance = instance;
    this.#connections = connections;
    this.#free = [...connections];
  }

  /**
   * `folder` is private to this process; it holds the tables, unless they are kept in memory. Failure('service') on a
   * platform without a DuckDB build.
   */
  static async create(
    folder: string,
    limits: DatabaseLimits,
    keep: 'on disk' | 'in memory' = 'on disk',
  ): Promise<Database> {
    const { DuckDBInstance } = await loadDuckDB();
    const path = keep === 'on disk' ? join(folder, FILE_NAME) : ':memory:';
    const instance = await DuckDBInstance.create(path, {
      memory_limit: limits.memory,
      threads: String(limits.threads),
      temp_directory: join(folder, 'spilled'),
      max_temp_directory_size: MAX_SPILLED,
      preserve_insertion_order: String(limits.inOrder),
      ...(limits.keptMemory !== null && {
        allocator_flush_threshold: limits.keptMemory,
        allocator_bulk_deallocation_flush_threshold: limits.keptMemory,
      }),
      // Makes errors carry the system's error number.
      errors_as_json: 'true',
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
    });
    const connections: DuckDB.DuckDBConnection[] = [];
    for (let index = 0; index < limits.connections; index++) connections.push(await instance.connect());
    return new Database(folder, limits.queryTimeoutMs, instance, connections);
  }

  /**
   * Opens a database in a temporary folder and closes it when `work` settles. `keep` as in `create`, `connections` as
   * in its limits.
   */
  static async temporary<T>(
    work: (database: Database) => Promise<T>,
    { keep = 'on disk', connections = 1 }: { keep?: 'on disk' | 'in memory'; connections?: number } = {},
  ): Promise<T> {
    const folder = await mkdtemp(join(tmpdir(), 'guardsweep-analysis-'));
    try {
      const database = await Database.create(folder, { ...ONE_BY_ONE, connections }, keep);
      try {
        return await work(database);
      } finally {
        await database.close();
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  /**
   * Opens a database in memory and closes it when `work` settles. Data that does not fit goes to `folder`, which is
   * created and then removed.
   */
  static async spillingTo<T>(folder: string, work: (database: Database) => Promise<T>): Promise<T> {
    await rm(folder, { recursive: true, force: true });
    const made = (await mkdir(folder, { recursive: true, mode: DIRECTORY_MODE })) ?? folder;
    try {
      const database = await Database.create(folder, IN_ORDER, 'in memory');
      try {
        return await work(database);
      } finally {
        await database.close();
      }
    } finally {
      await rm(made, { recursive: true, force: true });
    }
  }

  /** Runs a statement that may read files and has no time limit. */
  async load(sql: string, values: DuckDB.DuckDBValue[], signal: AbortSignal): Promise<void> {
    const connection = await this.#connect(signal);
    try {
      await this.#track(interruptible(connection, connection.run(sql, values), signal));
    } finally {
      this.#release(connection);
    }
  }

  /** Prevents all further statements from reading or writing other files and from changing these limits. */
  async lock(): Promise<void> {
    const connection = this.#connections[0]!;
    await connection.run('CHECKPOINT');
    await connection.run('SET enable_external_access = false');
    await connection.run('SET lock_configuration = true');
  }

  /**
   * Returns the rows of a query. Failure('service') if it takes too long; rejects with the signal's reason when
   * aborted.
   */
  async query(sql: string, values: DuckDB.DuckDBValue[], signal: AbortSignal): Promise<Row[]> {
    const late = this.#queryTimeoutMs === null ? null : AbortSignal.timeout(this.#queryTimeoutMs);
    const ended = AbortSignal.any([signal, this.#closing.signal, ...(late === null ? [] : [late])]);
    try {
      return await this.#track(this.#query(sql, values, ended));
    } catch (error) {
      if (signal.aborted || late?.aborted !== true) throw error;
      throw new Failure('service', 'the query takes too long: filter for fewer items', { cause: error });
    }
  }

  /** Yields the rows of a query in batches, without a limit. Its connection is in use until the last one. */
  async *stream(sql: string, values: DuckDB.DuckDBValue[], signal: AbortSignal): AsyncGenerator<Row[], void> {
    const connection = await this.#connect(signal);
    try {
      const result = await interruptible(connection, connection.stream(sql, values), signal);
      for await (const rows of result.yieldRows()) {
        signal.throwIfAborted();
        yield rows;
      }
    } finally {
      this.#release(connection);
    }
  }

  /** Interrupts running queries. */
  async close(): Promise<void> {
    this.#closing.abort(new Failure('interrupted', 'the index was closed'));
    await Promise.allSettled(this.#running);
    for (const connection of this.#connections) connection.closeSync();
    this.#instance.closeSync();
  }

  async #query(sql: string, values: DuckDB.DuckDBValue[], signal: AbortSignal): Promise<Row[]> {
    const connection = await this.#connect(signal);
    try {
      const reader = await interruptible(connection, connection.runAndReadAll(sql, values), signal);
      return reader.getRows();
    } finally {
      this.#release(connection);
    }
  }

  #release(connection: DuckDB.DuckDBConnection): void {
    this.#free.push(connection);
    this.#turns.offerTurns();
  }

  async #connect(signal: AbortSignal): Promise<DuckDB.DuckDBConnection> {
    let taken: DuckDB.DuckDBConnection | undefined;
    const take = (): 'taken' | 'blocked' => {
      taken = this.#free.pop();
      return taken === undefined ? 'blocked' : 'taken';
    };
    await this.#turns.wait(take, signal);
    return taken!;
  }

  async #track<T>(work: Promise<T>): Promise<T> {
    this.#running.add(work);
    try {
      return await work;
    } finally {
      this.#running.delete(work);
    }
  }
}

/** Settles when the query has ended. Rejects with the signal's reason if that was why. */
async function interruptible<T>(
  connection: DuckDB.DuckDBConnection,
  work: Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  let repeat: NodeJS.Timeout | undefined;
  const interrupt = (): void => {
    connection.interrupt();
    repeat ??= setInterval(interrupt, INTERRUPT_EVERY_MS);
  };
  if (signal.aborted) interrupt();
  signal.addEventListener('abort', interrupt, { once: true });
  try {
    return await work;
  } catch (error) {
    signal.throwIfAborted();
    throw translateError(error);
  } finally {
    signal.removeEventListener('abort', interrupt);
    clearInterval(repeat);
  }
}
