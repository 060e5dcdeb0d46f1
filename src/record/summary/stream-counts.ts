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

/** How many generations had shown each share, ascending. */
type Shares = readonly (readonly [share: number, generations: number])[];

/** Undefined for a run without generations. */
export function streamCounts(
  generations: number,
  shares: { readonly caution: Shares; readonly flag: Shares },
): StreamCounts | undefined {
  if (generations === 0) return undefined;
  return { generations, caution: shown(shares.caution), flag: shown(shares.flag) };
}

function shown(shares: Shares): ShownShares {
  const all = shares.reduce((sum, [, generations]) => sum + generations, 0);
  const percentile = (rank: number): number | null => {
    let left = Math.ceil(all * rank);
    return shares.find(([, generations]) => (left -= generations) <= 0)?.[0] ?? null;
  };
  return { generations: all, median: percentile(0.5), p90: percentile(0.9) };
}
