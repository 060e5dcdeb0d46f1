import { join } from 'node:path';
import type { OutcomeLine } from '../domain/outcome.ts';
import { readRecordLines } from '../files/record-lines.ts';
import { RUN_FILES } from '../files/run-files.ts';
import { RetrySelection } from './retry-selection.ts';

/** The items of a finished run whose error is worth trying again, as its errors.jsonl lists them. */
export async function retryableItems(runDir: string, signal: AbortSignal): Promise<RetrySelection> {
  const seqs: number[] = [];
  for await (const lines of readRecordLines(join(runDir, RUN_FILES.errors), { signal })) {
    for (const line of lines) {
      const { seq, error } = JSON.parse(line.toString()) as Pick<OutcomeLine, 'seq' | 'error'>;
      if (error?.retryable === true) seqs.push(seq);
    }
  }
  return new RetrySelection(seqs);
}
