import type { OutcomeLine } from '../domain/outcome.ts';
import { RUN_FILES } from '../files/run-files.ts';
import { readOutcomeFile } from '../record/outcomes/read-outcome-file.ts';
import { RetrySelection } from './retry-selection.ts';

/** The items of a finished run with a retryable error, from its errors.jsonl. */
export async function retryableItems(runDir: string, signal: AbortSignal): Promise<RetrySelection> {
  const seqs: number[] = [];
  const parse = (text: string): OutcomeLine => JSON.parse(text) as OutcomeLine;
  for await (const lines of readOutcomeFile(runDir, RUN_FILES.errors, { signal, parse })) {
    for (const { seq, error } of lines) if (error?.retryable === true) seqs.push(seq);
  }
  return new RetrySelection(seqs);
}
