import { join } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { createTemporary } from '../files/create-file.ts';
import { readRecordLines } from '../files/record-lines.ts';
import { RUN_FILES } from '../files/run-files.ts';
import type { Database } from './database.ts';

/**
 * Runs a statement that reads a file of outcome lines, its parameter 1. If the file holds lone surrogates,
 * which DuckDB rejects, it reads a copy with U+FFFD in their place. Failure('internal') for lines that are not outcomes.
 */
export async function loadLines(
  database: Database,
  sql: string,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await database.load(sql, [path], signal);
  } catch (error) {
    signal.throwIfAborted();
    if (!isAboutLines(error)) throw error;
    const copy = join(database.folder, 'well-formed.jsonl');
    await writeWellFormedCopy(path, copy, signal);
    try {
      await database.load(sql, [copy], signal);
    } catch (cause) {
      signal.throwIfAborted();
      if (!isAboutLines(cause)) throw cause;
      throw new Failure('internal', `${RUN_FILES.verdicts} has a line that is not an outcome`, { cause });
    }
  }
}

/** Whether a query failed because of its input, not because of the system. */
function isAboutLines(error: unknown): boolean {
  return !(error instanceof Failure) && (error as NodeJS.ErrnoException).errno === undefined;
}

/** Escape of a lone surrogate, not preceded by a backslash that escapes its own. */
// Linear time: a match begins only where no backslash precedes it, so a series of them is read once.
const LONE_SURROGATE = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

/** Copies the lines of a file with U+FFFD in place of lone surrogates. */
async function writeWellFormedCopy(from: string, to: string, signal: AbortSignal): Promise<void> {
  const file = await createTemporary(to);
  try {
    for await (const lines of readRecordLines(from, { signal })) {
      const texts = lines.map((line) => `${line.toString().replace(LONE_SURROGATE, '$1\\ufffd')}\n`);
      await file.appendFile(texts.join(''));
    }
  } finally {
    await file.close();
  }
}
