import { DuckDBInstance } from '@duckdb/node-api';

/** Runs statements in a new DuckDB, the independent writer and reader of Parquet files; returns the rows of the last. */
export async function duckdb(...statements: readonly string[]): Promise<readonly Record<string, unknown>[]> {
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  try {
    for (const statement of statements.slice(0, -1)) await connection.run(statement);
    return (await connection.runAndReadAll(statements.at(-1)!)).getRowObjectsJson();
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
}

/** Writes the rows of a query to a Parquet file, with options of COPY; returns its path. */
export async function parquetFile(path: string, query: string, options = ''): Promise<string> {
  await duckdb(`copy (${query}) to '${path}' (format parquet${options === '' ? '' : `, ${options}`})`);
  return path;
}
