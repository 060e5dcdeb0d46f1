import type { StreamLine } from '../../domain/outcome.ts';

/** The generations of a run, and how early their streams raised them. */
export interface StreamCounts {
  /** Generations with a verdict. */
  readonly generations: number;
  readonly caution: ShownShares;
  readonly flag: ShownShares;
}

/**
 * Of the generations that were raised: the share of the response that had been shown by then, 0 … 1, by nearest rank;
 * null when there are none.
 */
interface ShownShares {
  readonly generations: number;
  readonly median: number | null;
  readonly p90: number | null;
}

/** Shares in an outcome line have four decimals. */
const STEPS = 10_000;

/** Adds up the streams of a run. */
export class StreamTally {
  #generations = 0;
  readonly #caution = new ShareCounts();
  readonly #flag = new ShareCounts();

  add({ shown_share_at_caution, shown_share_at_flag }: StreamLine): void {
    this.#generations++;
    this.#caution.add(shown_share_at_caution);
    this.#flag.add(shown_share_at_flag);
  }

  /** Undefined for a run without generations. */
  counts(): StreamCounts | undefined {
    if (this.#generations === 0) return undefined;
    return { generations: this.#generations, caution: this.#caution.shown(), flag: this.#flag.shown() };
  }
}

/** How often each share occurred. */
class ShareCounts {
  /** By share in steps; made with the first one. */
  #counts: Uint32Array | null = null;
  #all = 0;

  add(share: number | null): void {
    if (share === null) return;
    this.#counts ??= new Uint32Array(STEPS + 1);
    this.#counts[Math.round(share * STEPS)]!++;
    this.#all++;
  }

  shown(): ShownShares {
    return { generations: this.#all, median: this.#percentile(0.5), p90: this.#percentile(0.9) };
  }

  #percentile(rank: number): number | null {
    let left = Math.ceil(this.#all * rank);
    for (const [step, count] of this.#counts?.entries() ?? []) {
      left -= count;
      if (left <= 0) return step / STEPS;
    }
    return null;
  }
}
