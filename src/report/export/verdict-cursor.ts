import type { Policy } from '../../domain/policy.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { Failure } from '../../domain/failure.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { replayDecision } from '../../record/outcomes/outcome-line.ts';
import { parseOutcomeLine } from '../../record/outcomes/outcome-schema.ts';
import { readOutcomeFile } from '../../record/outcomes/read-outcome-file.ts';

/**
 * The outcome lines of a finished run, in corpus order, taken by source and row. Sources, and rows of a source, are to
 * be asked for in that order. Holds the lines of one row and of one piece of the file.
 */
export class VerdictCursor {
  readonly #policy: Policy;
  readonly #batches: AsyncGenerator<OutcomeLine[], void>;
  #batch: readonly OutcomeLine[] = [];
  #index = 0;
  #rows = 0;
  #last: OutcomeLine['source'] | null = null;

  constructor(runDir: string, policy: Policy, signal: AbortSignal) {
    this.#policy = policy;
    this.#batches = readOutcomeFile(runDir, RUN_FILES.verdicts, { signal, parse: parseOutcomeLine });
  }

  /** The next line; null at the end of the run. */
  async peek(): Promise<OutcomeLine | null> {
    while (this.#index === this.#batch.length) {
      const next = await this.#batches.next();
      if (next.done === true) return null;
      this.#batch = next.value;
      this.#index = 0;
    }
    return this.#batch[this.#index]!;
  }

  /** Rows whose lines were taken or passed over; a file that is one item counts as a row. */
  get rows(): number {
    return this.#rows;
  }

  /**
   * The lines of a row, empty if it has none; a null `row` asks for those of a file that is one item. Lines of earlier
   * rows are passed over. Failure('internal') for a decision that is not what the run's policy gives.
   */
  async linesOf(path: string, row: number | null): Promise<OutcomeLine[]> {
    const lines: OutcomeLine[] = [];
    for (let line = await this.peek(); line?.source.path === path; line = await this.peek()) {
      const at = line.source.row;
      if (at !== row && (at === null || row === null || at > row)) break;
      if (at === row) lines.push(this.#checked(line));
      this.#pass(line);
    }
    return lines;
  }

  /** Passes over the rest of a source; returns whether a line of it is of the file as a whole. */
  async passSource(path: string): Promise<{ readonly hasFileLine: boolean }> {
    let hasFileLine = false;
    for (let line = await this.peek(); line?.source.path === path; line = await this.peek()) {
      hasFileLine ||= line.source.row === null;
      this.#pass(line);
    }
    return { hasFileLine };
  }

  async close(): Promise<void> {
    await this.#batches.return();
  }

  #pass({ source }: OutcomeLine): void {
    if (source.row !== this.#last?.row || source.path !== this.#last.path) this.#rows++;
    this.#last = source;
    this.#index++;
  }

  #checked(line: OutcomeLine): OutcomeLine {
    if ((replayDecision(this.#policy, line)?.decision ?? null) === line.decision) return line;
    const what = `the decision on item ${line.seq} is not the one the run's policy gives`;
    throw new Failure('internal', `${RUN_FILES.verdicts}: ${what}`);
  }
}
