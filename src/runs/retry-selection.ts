import type { OutcomeLine } from '../domain/outcome.ts';
import { RUN_FILES } from '../files/run-files.ts';
import { readOutcomeFile } from '../record/outcomes/read-outcome-file.ts';

/** The items a retry pass judges again, by seq. */
export class RetrySelection {
  readonly #seqs: Float64Array;

  /** `seqs` in any order, without repeats. */
  constructor(seqs: readonly number[]) {
    this.#seqs = Float64Array.from(seqs).sort();
  }

  get size(): number {
    return this.#seqs.length;
  }

  has(seq: number): boolean {
    return this.#seqs[this.#firstFrom(seq)] === seq;
  }

  /** The selected seqs in `from` … `to - 1`, ascending. */
  within(from: number, to: number): readonly number[] {
    return [...this.#seqs.subarray(this.#firstFrom(from), this.#firstFrom(to))];
  }

  /** Index of the first selected seq that is not below `seq`. */
  #firstFrom(seq: number): number {
    let low = 0;
    let high = this.#seqs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#seqs[middle]! < seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** The items of a finished run with a retryable error, from its errors.jsonl. */
export async function retryableItems(runDir: string, signal: AbortSignal): Promise<RetrySelection> {
  const seqs: number[] = [];
  const parse = (text: string): OutcomeLine => JSON.parse(text) as OutcomeLine;
  for await (const lines of readOutcomeFile(runDir, RUN_FILES.errors, { signal, parse })) {
    for (const { seq, error } of lines) if (error?.retryable === true) seqs.push(seq);
  }
  return new RetrySelection(seqs);
}
