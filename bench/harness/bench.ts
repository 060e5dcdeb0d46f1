import type { Figure } from './figures.ts';

/** What a bench gets to work with. */
export interface BenchContext {
  /** For everything that is drawn: the same seed gives the same corpora. */
  readonly seed: number;
  /** A folder of its own that is there for as long as it runs. */
  readonly folder: string;
  /** Aborts when the benches are interrupted. */
  readonly signal: AbortSignal;
  /** Rows to use where the full measurement has so many: scaled by BENCH_SCALE, at least 64. */
  rows(full: number): number;
  /** How often to measure where it is usually done so often: BENCH_ROUNDS overrules it. */
  rounds(usual: number): number;
  /** Writes down figures, and what they were made from, that stand whatever becomes of the rest of the bench. */
  keep(figures: readonly Figure[], raw: object): Promise<void>;
  /** A line on what is going on. */
  say(line: string): void;
}

/** Figures that were not kept before, and everything that they were made from, as it goes into the results file. */
export interface BenchResult {
  readonly figures: readonly Figure[];
  readonly raw: object;
}

export interface Bench {
  readonly name: string;
  /** One line: what is measured, against what. */
  readonly measures: string;
  /** Too long for every day: runs when named, or with BENCH_SCALE=full. */
  readonly onlyWhenAsked?: boolean;
  /** Rejects with a Failure when something is missing, or when what is measured does not work. */
  run(context: BenchContext): Promise<BenchResult>;
}
