import { join } from 'node:path';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { readRecordLines } from '../../files/record-lines.ts';
import type { RUN_FILES } from '../../files/run-files.ts';

interface OutcomeFileOptions {
  readonly signal: AbortSignal;
  /** Parses an outcome line. Files from elsewhere need `parseOutcomeLine`, which also validates it. */
  readonly parse: (text: string) => OutcomeLine;
}

/**
 * Reads the outcome lines of a finished run from its final file, in corpus order and in batches: all items, or only the
 * errors. Rejects as `readRecordLines` does, and with what `parse` throws.
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
