import { wholeCoverage, type Coverage } from '../../domain/item.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { Answer } from '../protocol/answer.ts';
import type { Task } from '../tasks/task.ts';

/** Answers of one reply that are not yet verdicts: it is not known yet which model gave them. */
export interface PendingVerdicts {
  readonly tasks: readonly Task[];
  /** Answer i is that to task i. */
  readonly answers: readonly Answer[];
  readonly latencyMs: number;
  /** ISO 8601, UTC. */
  readonly moderatedAt: string;
}

/** The verdict that answer `index` becomes; `fingerprint` is null for a guard that has none to tell. */
export function verdictOf(
  held: PendingVerdicts,
  index: number,
  endpoint: string,
  fingerprint: string | null,
): Outcome {
  const task = held.tasks[index]!;
  const answer = held.answers[index]!;
  return {
    judgement: {
      score: answer.score,
      flagged: answer.flagged,
      subcategoryScores: answer.subcategoryScores,
      subcategoryFlags: answer.subcategoryFlags,
      fingerprint,
      endpoint,
      latencyMs: held.latencyMs,
      attempts: task.attempts + 1,
      cacheUsage: answer.cacheUsage,
      moderatedAt: held.moderatedAt,
      coverage: coverageOf(task),
    },
    failure: null,
  };
}

/** A text of as many bytes in UTF-8 as it has UTF-16 code units is ASCII, and its code points need not be counted. */
function coverageOf({ request, bytes }: Task): Coverage {
  if (request.requestType === 'prompt' && request.modality === 'text' && request.text.length === bytes) {
    return { unit: 'chars', judged: bytes, total: bytes, worst_at: null };
  }
  return wholeCoverage(request);
}
