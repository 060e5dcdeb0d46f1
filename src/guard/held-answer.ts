import { wholeCoverage } from '../domain/item.ts';
import { type Outcome } from '../domain/outcome.ts';
import { type Answer } from './answer.ts';
import { type Task } from './task.ts';

/** An answer that is not yet a verdict: it is not known yet which model gave it. */
export interface HeldAnswer {
  readonly task: Task;
  readonly answer: Answer;
  readonly latencyMs: number;
  /** ISO 8601, UTC. */
  readonly moderatedAt: string;
}

/** The verdict an answer becomes; `fingerprint` is null for a guard that has none to tell. */
export function verdictOf(held: HeldAnswer, endpoint: string, fingerprint: string | null): Outcome {
  const { task, answer, latencyMs, moderatedAt } = held;
  return {
    judgement: {
      score: answer.score,
      flagged: answer.flagged,
      subcategoryScores: answer.subcategoryScores,
      subcategoryFlags: answer.subcategoryFlags,
      fingerprint,
      endpoint,
      latencyMs,
      attempts: task.attempts + 1,
      // The guard fills it for conversations only.
      cacheUsage: task.signature === 'multiturn' ? answer.cacheUsage : null,
      moderatedAt,
      coverage: wholeCoverage(task.request),
    },
    failure: null,
  };
}
