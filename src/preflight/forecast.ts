import type { ItemCode } from '../domain/item-error.ts';
import type { Decision } from '../domain/outcome.ts';
import type { ItemCounts } from './tally.ts';
import type { Method, TableColumns } from './read-corpus.ts';
import type { Estimate } from './statistics.ts';

/** What one source of a run holds, as far as was read. */
export interface CorpusForecast {
  /** As the user named it. */
  readonly source: string;
  readonly files: number;
  readonly bytes: number;
  /** What was looked into. */
  readonly read: { readonly files: number; readonly bytes: number };
  /** Files by what they are, of those that were looked into. */
  readonly layouts: Readonly<Record<string, number>>;
  readonly tables: readonly TableColumns[];
  readonly method: Method;
  readonly predicted: ItemCounts;
}

/** A share of the sample, and what it means for all items. */
export interface ExpectedShare extends Estimate {
  /** Of the sample. */
  readonly seen: number;
  /** Predicted number of items, at `value`. */
  readonly items: number;
}

/** What a guard made of the sample. */
export interface GuardForecast {
  readonly endpoints: readonly { readonly name: string; readonly fingerprint: string | null }[];
  /** Items of the sample that were sent, and those of them that got a verdict. */
  readonly sampled: number;
  readonly verdicts: number;
  readonly by_decision: Readonly<Record<Decision, ExpectedShare>>;
  /** As the guard flags, by category. */
  readonly by_category: Readonly<Record<string, ExpectedShare>>;
  readonly by_error_code: Readonly<Partial<Record<ItemCode, ExpectedShare>>>;
  /** Items with a verdict of an earlier run that would be reused; null when there is no store, or none is to be used. */
  readonly reuse: ExpectedShare | null;
  /** How long all items keep the guards busy, and the run, if no verdict is reused; null when there is nothing to judge. */
  readonly duration: {
    readonly guard: Estimate;
    /** Reading the sources takes this long. */
    readonly reading: number;
    readonly run: Estimate;
    /** Batches that were timed. */
    readonly batches: number;
    /** Time of the guards times their number. */
    readonly guard_seconds: Estimate;
    readonly method: string;
  } | null;
}

/** The result of `preflight`. */
export interface Forecast {
  readonly schema: 1;
  readonly seed: number;
  readonly sources: readonly CorpusForecast[];
  readonly files: number;
  readonly bytes: number;
  /** Files that are left out, by reason. */
  readonly skipped: Readonly<Record<string, number>>;
  readonly method: Method;
  /** Of all sources: items, those to be judged, and those that end in an error when they are read. */
  readonly items: number;
  /** 95 % interval of `items`; its bounds are equal where everything was read. */
  readonly items_interval: { readonly low: number; readonly high: number };
  readonly to_judge: number;
  readonly predicted: ItemCounts;
  /** Null with `--no-guard`. */
  readonly guard: GuardForecast | null;
  readonly disk_bytes: number;
  /** In a fleet's Redis. */
  readonly redis_bytes: number;
}
