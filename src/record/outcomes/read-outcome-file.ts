import { join } from 'node:path';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { readRecordLines } from '../../files/record-lines.ts';
import type { RUN_FILES } from '../../files/run-files.ts';

interface OutcomeFileOptions {
  readonly signal: AbortSignal;
  /** Parses an outcome line; `parseOutcomeLine` also validates it, which a file from elsewhere needs. */
  readonly parse: (text: string) => OutcomeLine;
}

/**
 * The outcome lines of a finished run as its final file has them, in corpus order, in batches: those of all items, or
 * of the errors. Rejects as `readRecordLines` does, and with what `parse` throws.
 */
export async function* readOutcomeFile(
  runDir: string,
  name: typeof RUN_FILES.verdicts | typeof RUN_FILES.errors,
  { signal, parse }: OutcomeFileOptions,
): AsyncGenerator<OutcomeLine[], void> {
  for await (const lines of readRecordLines(join(runDir, name), { signal })) {
    yield lines.map((line) => parse(line.toString()));
  }
}
