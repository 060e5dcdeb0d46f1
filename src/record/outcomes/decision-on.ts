import type { Judgement } from '../../domain/outcome.ts';
import { decide, type PolicyDecision, type Policy } from '../../domain/policy.ts';

/** The policy's decision on a judgement. */
export function decisionOn(policy: Policy, judgement: Judgement): PolicyDecision {
  const { coverage, stream } = judgement;
  return decide(policy, {
    score: judgement.score,
    flagged: judgement.flagged,
    subcategoryScores: judgement.subcategoryScores,
    subcategoryFlags: judgement.subcategoryFlags,
    needsCaution: stream !== null && stream.firstCautionSeq !== null,
    partial: coverage.judged < coverage.total,
  });
}
