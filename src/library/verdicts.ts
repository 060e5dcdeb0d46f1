import { resolve } from 'node:path';
import { Failure } from '../domain/failure.ts';
import type { OutcomeLine } from '../domain/outcome.ts';
import { FileTooLargeError, NotRegularFileError } from '../files/open-file.ts';
import { RUN_FILES } from '../files/run-files.ts';
import { readOutcomeFile } from '../record/outcomes/read-outcome-file.ts';
import { parseOutcomeLine } from '../record/outcomes/outcome-schema.ts';
import { finishedSummary } from '../record/summary/finished-summary.ts';
import { assertRunDirectory } from '../record/read-record.ts';

/**
 * The outcome lines of a finished run in corpus order, verdicts and errors, one for every item. Each is checked against
 * the format. The file is streamed, so memory use does not depend on its size.
 *
 * Throws a Failure: `usage` for a directory that is not a run directory or whose run is not finished, `internal` for a
 * line that is not a valid outcome; rejects with the reason of `signal` when it is aborted.
 */
export async function* verdicts(
  dir: string,
  { signal = new AbortController().signal }: { readonly signal?: AbortSignal } = {},
): AsyncGenerator<OutcomeLine, void> {
  const runDir = resolve(dir);
  await assertRunDirectory(runDir);
  if ((await finishedSummary(runDir)) === null) {
    throw new Failure('usage', `the run in ${dir} is not finished: resume it first`);
  }
  let line = 0;
  const parse = (text: string): OutcomeLine => {
    line++;
    return parseOutcomeLine(text);
  };
  const batches = readOutcomeFile(runDir, RUN_FILES.verdicts, { signal, parse });
  try {
    for (;;) {
      let next: IteratorResult<OutcomeLine[], void>;
      try {
        next = await batches.next();
      } catch (error) {
        signal.throwIfAborted();
        throw unreadable(error, line);
      }
      if (next.done === true) return;
      yield* next.value;
    }
  } finally {
    // A caller that stops early closes the file too.
    await batches.return();
  }
}

/** The reason why the lines cannot be read, in our own words: a parser's message can quote content. */
function unreadable(cause: unknown, line: number): Failure {
  const name = RUN_FILES.verdicts;
  if (cause instanceof NotRegularFileError || cause instanceof FileTooLargeError) {
    return new Failure('internal', `${name} cannot be read: ${cause.message}`, { cause });
  }
  const { code } = cause as NodeJS.ErrnoException;
  const what = code === undefined ? `line ${line} is not an outcome line` : `cannot be read (${code})`;
  return new Failure('internal', `${name} ${what}`);
}
