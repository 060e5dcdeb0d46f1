import type { Figure } from './figures.ts';

/** Environment of a bench. */
export interface BenchContext {
  /** Seed of all randomness: the same seed gives the same corpora. */
  readonly seed: number;
  /** Its own folder, deleted when it ends. */
  readonly folder: string;
  /** Aborts when the benches are interrupted. */
  readonly signal: AbortSignal;
  /** Number of rows to use instead of `full`: scaled by BENCH_SCALE, at least 64. */
  rows(full: number): number;
  /** Number of seconds to measure instead of `full`: scaled by BENCH_SCALE, at least 1. */
  seconds(full: number): number;
  /** Rounds to measure: `usual`, unless BENCH_ROUNDS overrides it. */
  rounds(usual: number): number;
  /** Saves figures and their raw data, even if the rest of the bench fails. */
  keep(figures: readonly Figure[], raw: object): Promise<void>;
  /** Prints a line of progress. */
  say(line: string): void;
}

/** Figures not saved by `keep`, and their raw data for the results file. */
export interface BenchResult {
  readonly figures: readonly Figure[];
  readonly raw: object;
}

export interface Bench {
  readonly name: string;
  /** One line: what is measured, and against what. */
  readonly measures: string;
  /** Set for a long bench: runs only when named, or with BENCH_SCALE=full. */
  readonly onlyWhenAsked?: boolean;
  /** Rejects with a Failure when a requirement is missing or the measured run fails. */
  run(context: BenchContext): Promise<BenchResult>;
}
