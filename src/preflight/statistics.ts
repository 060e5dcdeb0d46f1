/** Numbers of 0 to 1, below 1, that depend only on a seed: mulberry32. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The values in random order. */
export function shuffled<T>(values: readonly T[], random: () => number): T[] {
  const mixed = [...values];
  for (let last = mixed.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [mixed[last], mixed[other]] = [mixed[other]!, mixed[last]!];
  }
  return mixed;
}

/** A random sample of a stream of values: each value is in it with the same probability. */
export class Reservoir<T> {
  readonly values: T[] = [];
  readonly #size: number;
  readonly #random: () => number;
  #seen = 0;

  constructor(size: number, random: () => number) {
    this.#size = size;
    this.#random = random;
  }

  add(value: T): void {
    this.#seen++;
    if (this.values.length < this.#size) {
      this.values.push(value);
      return;
    }
    const at = Math.floor(this.#random() * this.#seen);
    if (at < this.#size) this.values[at] = value;
  }
}

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
interface TimedKind {
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
