import type { z } from 'zod';
import type { Immutable, SHOWN, STREAMS } from './summary-schema.ts';

/** Counts of the generations of a run, and how early their streams raised them. */
export type StreamCounts = Immutable<z.infer<typeof STREAMS>>;

/** For the raised generations: the share of the response that had been shown by then, by nearest rank. */
type ShownShares = Immutable<z.infer<typeof SHOWN>>;

/** Number of generations per share shown, ascending. */
type Shares = readonly (readonly [share: number, generations: number])[];

/** Counts of the generations; undefined for a run without any. */
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
