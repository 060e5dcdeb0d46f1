import type { ChainPart } from './chain.ts';

/**
 * For how long a run was worked on, in seconds to the millisecond: in each epoch, from where the work that its commits
 * come from began, to its last commit. What lies between, while nobody worked, does not count; what two epochs share
 * counts once.
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
