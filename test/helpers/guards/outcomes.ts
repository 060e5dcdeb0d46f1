import { expect } from 'vitest';
import type { ItemCode } from '../../../src/domain/item-error.ts';
import type { FailedJudgement, Judgement, Outcome } from '../../../src/domain/outcome.ts';

export function verdict(outcome: Outcome | undefined): Judgement {
  if (!outcome?.judgement) throw new Error(`not a verdict: ${JSON.stringify(outcome)}`);
  return outcome.judgement;
}

export function failure(outcome: Outcome | undefined): FailedJudgement {
  if (!outcome?.failure) throw new Error(`not an error: ${JSON.stringify(outcome)}`);
  return outcome.failure;
}

/** Checks that one outcome is an error with this code, and that the others are verdicts at their first attempt. */
export function expectOnlyFailure(
  outcomes: readonly Outcome[],
  at: number,
  code: ItemCode,
  attempts = 1,
): void {
  outcomes.forEach((outcome, index) => {
    if (index !== at) expect(verdict(outcome).attempts).toBe(1);
    else expect(failure(outcome)).toMatchObject({ error: { code }, attempts });
  });
}

/** Checks that all outcomes are verdicts at their first attempt. */
export function expectFirstTries(outcomes: readonly Outcome[]): void {
  for (const outcome of outcomes) expect(verdict(outcome).attempts).toBe(1);
}
