/** Shifts are counted to this precision, which bounds the memory. */
const STEPS_PER_UNIT = 1000;

const QUANTILES = { p01: 0.01, p05: 0.05, p25: 0.25, p50: 0.5, p75: 0.75, p95: 0.95, p99: 0.99 } as const;

/** Where the histogram is cut: finer around 0, where most shifts are. */
const EDGES = [-1, -0.5, -0.2, -0.1, -0.05, -0.01, 0.01, 0.05, 0.1, 0.2, 0.5, 1] as const;

/** How scores moved from one run to the other. */
export interface ScoreShift {
  /** Pairs with a verdict in both runs. */
  readonly pairs: number;
  /** Null without pairs, like all that follows. */
  readonly mean: number | null;
  readonly min: number | null;
  readonly max: number | null;
  /** By nearest rank, to 0.001. */
  readonly quantiles: Readonly<Record<keyof typeof QUANTILES, number>> | null;
  /** Shifts from `from` up to `to`; of the last one including it. */
  readonly histogram: readonly { readonly from: number; readonly to: number; readonly pairs: number }[];
}

/** Adds up differences of scores, -1 … 1. */
export class ScoreShifts {
  readonly #counts = new Float64Array(2 * STEPS_PER_UNIT + 1);
  readonly #bins = new Float64Array(EDGES.length - 1);
  #pairs = 0;
  #sum = 0;
  #min = Infinity;
  #max = -Infinity;

  add(shift: number, times: number): void {
    this.#pairs += times;
    this.#sum += shift * times;
    this.#min = Math.min(this.#min, shift);
    this.#max = Math.max(this.#max, shift);
    this.#counts[Math.round(shift * STEPS_PER_UNIT) + STEPS_PER_UNIT]! += times;
    const above = EDGES.findIndex((edge) => shift < edge);
    this.#bins[above === -1 ? EDGES.length - 2 : above - 1]! += times;
  }

  result(): ScoreShift {
    const pairs = this.#pairs;
    const isEmpty = pairs === 0;
    return {
      pairs,
      mean: isEmpty ? null : this.#sum / pairs,
      min: isEmpty ? null : this.#min,
      max: isEmpty ? null : this.#max,
      quantiles: isEmpty ? null : this.#quantiles(),
      histogram: [...this.#bins].map((count, index) => ({
        from: EDGES[index]!,
        to: EDGES[index + 1]!,
        pairs: count,
      })),
    };
  }

  #quantiles(): NonNullable<ScoreShift['quantiles']> {
    const at = (share: number): number => {
      let left = Math.ceil(share * this.#pairs);
      const step = this.#counts.findIndex((count) => (left -= count) <= 0);
      return (step - STEPS_PER_UNIT) / STEPS_PER_UNIT;
    };
    const { p01, p05, p25, p50, p75, p95, p99 } = QUANTILES;
    return {
      ...{ p01: at(p01), p05: at(p05), p25: at(p25), p50: at(p50) },
      ...{ p75: at(p75), p95: at(p95), p99: at(p99) },
    };
  }
}
