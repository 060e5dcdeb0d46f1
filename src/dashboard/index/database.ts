import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type * as DuckDB from '@duckdb/node-api';
import { Failure } from '../../domain/failure.ts';
import { WaitList } from '../../flow/wait-list.ts';

/** Buffers of one database. Loading takes most; queries of a million rows take a tenth. */
const MEMORY_LIMIT = '384MB';
/** What a query may spill to disk. */
const MAX_SPILLED = '4GB';
const MAX_THREADS = 4;
/** Queries at once; each keeps one of Node's four threads busy. Others wait for their turn. */
const CONNECTIONS = 2;
const QUERY_TIMEOUT_MS = 20_000;
/** An interruption that comes before its query begins has no effect, so it is repeated. */
const INTERRUPT_EVERY_MS = 20;

export type Row = readonly DuckDB.DuckDBValue[];

/**
 * A DuckDB database in a private folder. While it is loaded, SQL can read files; `lock` ends that for good. All SQL is ours,
 * and all values are parameters.
 *
 *   create ─► loading ─ lock ─► serving ─ close ─► closed
 */
export class Database {
  readonly #instance: DuckDB.DuckDBInstance;
  readonly #free: DuckDB.DuckDBConnection[];
  readonly #connections: readonly DuckDB.DuckDBConnection[];
  readonly #turns = new WaitList();
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  private constructor(instance: DuckDB.DuckDBInstance, connections: readonly DuckDB.DuckDBConnection[]) {
    this.#instance = instance;
    this.#connections = connections;
    this.#free = [...connections];
  }

  /** `folder` is private to this process. Failure('service') on a platform for which DuckDB has no build. */
  static async create(folder: string): Promise<Database> {
    const { DuckDBInstance } = await duckdb();
    const instance = await DuckDBInstance.create(join(folder, 'index.duckdb'), {
      memory_limit: MEMORY_LIMIT,
      threads: String(Math.min(MAX_THREADS, availableParallelism())),
      temp_directory: join(folder, 'spilled'),
      max_temp_directory_size: MAX_SPILLED,
      // Loading in order takes far more memory; every query names its order.
      preserve_insertion_order: 'false',
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
    });
    const connections: DuckDB.DuckDBConnection[] = [];
    for (let index = 0; index < CONNECTIONS; index++) connections.push(await instance.connect());
    return new Database(instance, connections);
  }

  /** Runs a statement that may read files and takes as long as it takes. `progress` is called with 0 … 1. */
  async load(
    sql: string,
    values: DuckDB.DuckDBValue[],
    signal: AbortSignal,
    progress: (share: number) => void,
  ): Promise<void> {
    const connection = this.#connections[0]!;
    const watch = setInterval(() => {
      const { percentage } = connection.progress;
      if (percentage > 0) progress(Math.min(1, percentage / 100));
    }, 100);
    try {
      await this.#track(interruptible(connection, connection.run(sql, values), signal));
    } finally {
      clearInterval(watch);
    }
  }

  /** From here on no statement reads or writes other files, or changes these limits. */
  async lock(): Promise<void> {
    const connection = this.#connections[0]!;
    await connection.run('CHECKPOINT');
    await connection.run('SET enable_external_access = false');
    await connection.run('SET lock_configuration = true');
  }

  /** The rows of a query. Failure('service') when it takes too long; rejects with the signal's reason when aborted. */
  async query(sql: string, values: DuckDB.DuckDBValue[], signal: AbortSignal): Promise<Row[]> {
    const late = AbortSignal.timeout(QUERY_TIMEOUT_MS);
    const ended = AbortSignal.any([signal, late, this.#closing.signal]);
    try {
      return await this.#track(this.#query(sql, values, ended));
    } catch (error) {
      if (signal.aborted || !late.aborted) throw error;
      throw new Failure('service', 'the query takes too long: filter for fewer items', { cause: error });
    }
  }

  /** Interrupts what is running. */
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
      this.#free.push(connection);
      this.#turns.offerTurns();
    }
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

/** Its native library has 70 MB, so it is loaded when the first list is opened. */
async function duckdb(): Promise<typeof DuckDB> {
  try {
    return await import('@duckdb/node-api');
  } catch (cause) {
    throw new Failure('service', 'review lists need DuckDB, which has no build for this platform', { cause });
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
    throw error;
  } finally {
    signal.removeEventListener('abort', interrupt);
    clearInterval(repeat);
  }
}
