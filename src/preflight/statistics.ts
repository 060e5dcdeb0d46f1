/** An estimate with the bounds of its 95 % confidence interval. */
export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** Quantile of the normal distribution for two-sided 95 %. */
const Z = 1.959964;

/** The share `hits / trials` with Wilson's score interval; `trials` is at least 1. */
export function wilson(hits: number, trials: number): Estimate {
  const share = hits / trials;
  const z2 = Z * Z;
  const centre = share + z2 / (2 * trials);
  const spread = Z * Math.sqrt((share * (1 - share)) / trials + z2 / (4 * trials * trials));
  const scale = 1 + z2 / trials;
  return {
    value: share,
    low: hits === 0 ? 0 : Math.max(0, (centre - spread) / scale),
    high: hits === trials ? 1 : Math.min(1, (centre + spread) / scale),
  };
}

/** One batch that was timed. */
export interface Batch {
  readonly items: number;
  readonly seconds: number;
}

/** Batches of one kind, and how many items of that kind are predicted. */
export interface TimedKind {
  readonly batches: readonly Batch[];
  readonly items: number;
}

/** Resamples of a bootstrap. */
export const RESAMPLES = 1000;

/** As many values, each drawn from all of them. */
export function redrawn<T>(values: readonly T[], random: () => number): T[] {
  return values.map(() => values[Math.floor(random() * values.length)]!);
}

/** An estimate with the bounds that 95 % of its resamples lie within (percentile bootstrap). */
export function withBounds(value: number, resamples: readonly number[]): Estimate {
  const sorted = resamples.toSorted((one, other) => one - other);
  const low = sorted[Math.floor(sorted.length * 0.025)]!;
  const high = sorted[Math.ceil(sorted.length * 0.975) - 1]!;
  return { value, low: Math.min(value, low), high: Math.max(value, high) };
}

/** Seconds for the predicted items of all kinds, at the mean time per item of their batches; bounds by resampling those. */
export function secondsFor(kinds: readonly TimedKind[], random: () => number): Estimate {
  const total = (pick: (batches: readonly Batch[]) => readonly Batch[]): number =>
    kinds.reduce((sum, { batches, items }) => sum + items * secondsPerItem(pick(batches)), 0);
  const totals = Array.from({ length: RESAMPLES }, () => total((batches) => redrawn(batches, random)));
  return withBounds(
    total((batches) => batches),
    totals,
  );
}

function secondsPerItem(batches: readonly Batch[]): number {
  let [items, seconds] = [0, 0];
  for (const batch of batches) {
    items += batch.items;
    seconds += batch.seconds;
  }
  return items === 0 ? 0 : seconds / items;
}
