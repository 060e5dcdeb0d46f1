import { constants } from 'node:os';
import type * as DuckDB from '@duckdb/node-api';
import { Failure } from '../domain/failure.ts';

/**
 * Loads DuckDB. Its native library has 70 MB, so it is loaded with the first database, or earlier when there is time.
 * Failure('service') on a platform without a build of it.
 */
export async function loadDuckDB(): Promise<typeof DuckDB> {
  try {
    return await import('@duckdb/node-api');
  } catch (cause) {
    throw new Failure('service', 'this needs DuckDB, which has no build for this platform', { cause });
  }
}

const ERROR_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.errno).map(([name, errno]) => [errno, name]),
);

/**
 * Translates an error of DuckDB, whose message is JSON: to the system error that caused it, or to Failure('service') if
 * the query lacks memory or disk space to spill. Returns all other errors unchanged.
 */
export function translateError(error: unknown): unknown {
  let said: { exception_type?: string; errno?: string };
  try {
    said = JSON.parse((error as Error).message) as typeof said;
  } catch {
    return error;
  }
  if (said.exception_type === 'Out of Memory') {
    return new Failure('service', 'a query ran out of memory, or of disk space for temporary data', {
      cause: error,
    });
  }
  const errno = Number(said.errno);
  if (!(errno > 0)) return error;
  const code = ERROR_NAMES.get(errno) ?? 'EIO';
  return Object.assign(new Error(`DuckDB: ${code}`, { cause: error }), { code, errno: -errno });
}

/** A string as a literal in SQL. */
export function sqlText(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}
