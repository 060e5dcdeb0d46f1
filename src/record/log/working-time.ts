import type { ChainPart } from './chain.ts';

/**
 * Working time of a run, in seconds with millisecond resolution: the union of the spans of all epochs. Each span runs
 * from the start of the work on its commits to its last commit or, if it finished a pass, until the outcome files were
 * written. Setting the clock while an epoch works does not change its span.
 */
export function workingSeconds(
  parts: readonly Pick<ChainPart, 'begunAt' | 'claimedAt' | 'workedMs'>[],
): number {
  const spans = parts
    .flatMap(({ begunAt, claimedAt, workedMs }) => {
      if (workedMs === null) return [];
      return [
        [Math.min(Date.parse(begunAt), Date.parse(claimedAt)), Date.parse(claimedAt) + workedMs] as const,
      ];
    })
    .sort(([a], [b]) => a - b);
  let total = 0;
  let until = Number.NEGATIVE_INFINITY;
  for (const [begun, ended] of spans) {
    total += Math.max(0, ended - Math.max(begun, until));
    until = Math.max(until, ended);
  }
  return total / 1000;
}
