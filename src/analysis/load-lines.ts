import { join } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { RUN_FILES } from '../files/run-files.ts';
import type { Database } from './database.ts';
import { writeWellFormedCopy } from './well-formed-copy.ts';

/**
 * Runs a statement that reads a file of outcome lines, its parameter 1. Where the file holds halves of surrogate pairs, which
 * are no text to DuckDB, it reads a copy with U+FFFD in their place. Failure('internal') for lines that are no outcomes.
 */
export async function loadLines(
  database: Database,
  sql: string,
  path: string,
  signal: AbortSignal,
  progress?: (share: number) => void,
): Promise<void> {
  try {
    await database.load(sql, [path], signal, progress);
  } catch (error) {
    signal.throwIfAborted();
    if (!isAboutLines(error)) throw error;
    const copy = join(database.folder, 'well-formed.jsonl');
    await writeWellFormedCopy(path, copy, signal);
    try {
      await database.load(sql, [copy], signal, progress);
    } catch (cause) {
      signal.throwIfAborted();
      if (!isAboutLines(cause)) throw cause;
      throw new Failure('internal', `${RUN_FILES.verdicts} has a line that is no outcome`, { cause });
    }
  }
}

/** Whether a query failed on what it read, not on the system. */
function isAboutLines(error: unknown): boolean {
  return !(error instanceof Failure) && (error as NodeJS.ErrnoException).errno === undefined;
}
