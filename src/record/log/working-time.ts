import type { ChainPart } from './chain.ts';

/**
 * How long a run was worked on, in seconds with millisecond resolution: the union of the spans of all epochs, each from
 * the start of the work on its commits to its last commit.
 */
export function workingSeconds(parts: readonly ChainPart[]): number {
  const spans = parts
    .filter(({ lastCommitAt }) => lastCommitAt !== null)
    .map(({ begunAt, lastCommitAt }) => [Date.parse(begunAt), Date.parse(lastCommitAt!)] as const)
    .sort(([a], [b]) => a - b);
  let total = 0;
  let until = Number.NEGATIVE_INFINITY;
  for (const [begun, ended] of spans) {
    total += Math.max(0, ended - Math.max(begun, until));
    until = Math.max(until, ended);
  }
  return total / 1000;
}
