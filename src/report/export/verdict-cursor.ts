import { join } from 'node:path';
import type { Policy } from '../../domain/policy.ts';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { Failure } from '../../domain/failure.ts';
import { readRecordLines } from '../../files/record-lines.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import { replayDecision } from '../../record/outcomes/outcome-line.ts';

/**
 * Reads the outcome lines of a finished run, in corpus order, by source and row. Sources, and rows of a source, must be
 * requested in that order. Keeps the lines of one row and of one piece of the file in memory.
 *
 * The file was compared with the manifest, and its lines were checked when they were committed. So only their decisions
 * are checked again. Lines are parsed one at a time, to keep few in memory.
 */
export class VerdictCursor {
  readonly #policy: Policy;
  readonly #pieces: AsyncGenerator<Buffer[], void>;
  #piece: readonly Buffer[] = [];
  #index = 0;
  /** The line at `#index`, once it is parsed. */
  #line: OutcomeLine | null = null;
  #isAtEnd = false;
  #rows = 0;
  #last: OutcomeLine['source'] | null = null;

  constructor(runDir: string, policy: Policy, signal: AbortSignal) {
    this.#policy = policy;
    this.#pieces = readRecordLines(join(runDir, RUN_FILES.verdicts), { signal });
  }

  /** The next line; null at the end of the run. */
  async peek(): Promise<OutcomeLine | null> {
    while (this.#isReadUp()) await this.#readOn();
    return this.#next();
  }

  /** Rows whose lines were taken or skipped; a file that is one item counts as a row. */
  get rows(): number {
    return this.#rows;
  }

  /**
   * The lines of a row, empty if it has none; a null `row` requests those of a file that is one item. Lines of earlier
   * rows are skipped. Returns a promise only if the file must be read for it: most rows need not wait.
   * Failure('internal') for a decision that differs from what the run's policy gives.
   */
  linesOf(path: string, row: number | null): readonly OutcomeLine[] | Promise<readonly OutcomeLine[]> {
    const lines: OutcomeLine[] = [];
    return this.#take(path, row, lines) ? lines : this.#readAndTake(path, row, lines);
  }

  async #readAndTake(path: string, row: number | null, lines: OutcomeLine[]): Promise<OutcomeLine[]> {
    do await this.#readOn();
    while (!this.#take(path, row, lines));
    return lines;
  }

  /** Moves the lines of a row to `lines`. False if some may be in the unread part of the file. */
  #take(path: string, row: number | null, lines: OutcomeLine[]): boolean {
    while (!this.#isReadUp()) {
      const line = this.#next();
      if (line?.source.path !== path) return true;
      const at = line.source.row;
      if (at !== row && (at === null || row === null || at > row)) return true;
      if (at === row) lines.push(this.#checked(line));
      this.#pass(line);
    }
    return false;
  }

  /** Skips the rest of a source; returns whether one of its lines is for the file as a whole. */
  async passSource(path: string): Promise<{ readonly hasFileLine: boolean }> {
    let hasFileLine = false;
    for (let line = await this.peek(); line?.source.path === path; line = await this.peek()) {
      hasFileLine ||= line.source.row === null;
      this.#pass(line);
    }
    return { hasFileLine };
  }

  async close(): Promise<void> {
    await this.#pieces.return();
  }

  /** Whether the next line must be read first. */
  #isReadUp(): boolean {
    return this.#index === this.#piece.length && !this.#isAtEnd;
  }

  async #readOn(): Promise<void> {
    const next = await this.#pieces.next();
    this.#isAtEnd = next.done === true;
    this.#piece = next.done === true ? [] : next.value;
    this.#index = 0;
  }

  /** The next of the lines that were read; null at the end of the run. */
  #next(): OutcomeLine | null {
    if (this.#line === null && this.#index < this.#piece.length) {
      this.#line = JSON.parse(this.#piece[this.#index]!.toString()) as OutcomeLine;
    }
    return this.#line;
  }

  #pass({ source }: OutcomeLine): void {
    if (source.row !== this.#last?.row || source.path !== this.#last.path) this.#rows++;
    this.#last = source;
    this.#line = null;
    this.#index++;
  }

  #checked(line: OutcomeLine): OutcomeLine {
    if ((replayDecision(this.#policy, line)?.decision ?? null) === line.decision) return line;
    const what = `the decision on item ${line.seq} is not the one the run's policy gives`;
    throw new Failure('internal', `${RUN_FILES.verdicts}: ${what}`);
  }
}
