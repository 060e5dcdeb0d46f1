import { chunkCoverage, wholeCoverage, type Coverage } from '../../domain/coverage.ts';
import { generationVerdict, type GenerationVerdict } from '../../domain/generation/generation-verdict.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { Answer } from '../protocol/answer.ts';
import type { Task } from '../tasks/task.ts';

/** Answers of one reply. They become verdicts once it is known which model gave them. */
export interface PendingVerdicts {
  readonly tasks: readonly Task[];
  /** Answer i is that to task i. */
  readonly answers: readonly Answer[];
  readonly latencyMs: number;
  /** ISO 8601, UTC. */
  readonly moderatedAt: string;
}

/** The verdict made from answer `index`. `fingerprint` is null for a guard that does not report its version. */
export function verdictOf(
  pending: PendingVerdicts,
  index: number,
  endpoint: string,
  fingerprint: string | null,
): Outcome {
  const task = pending.tasks[index]!;
  const answer = pending.answers[index]!;
  return {
    judgement: {
      score: answer.score,
      flagged: answer.flagged,
      subcategoryScores: answer.subcategoryScores,
      subcategoryFlags: answer.subcategoryFlags,
      fingerprint,
      endpoint,
      latencyMs: pending.latencyMs,
      attempts: task.attempts + 1,
      cacheUsage: answer.cacheUsage,
      moderatedAt: pending.moderatedAt,
      coverage: coverageOf(task, answer),
      stream: streamOf(task, answer),
    },
    failure: null,
  };
}

/** What the stream of a generation found; null for every other request. */
function streamOf({ request }: Task, { stream }: Answer): GenerationVerdict | null {
  if (request.requestType !== 'generation' || stream === undefined) return null;
  return generationVerdict(request.chunks, stream);
}

/** A text with as many UTF-8 bytes as UTF-16 code units is ASCII: its code points need not be counted. */
function coverageOf({ request, bytes }: Task, { stream }: Answer): Coverage {
  if (request.requestType === 'generation' && stream !== undefined) {
    return chunkCoverage(request.chunks, stream.judgedChunks);
  }
  if (request.requestType === 'prompt' && request.modality === 'text' && request.text.length === bytes) {
    return { unit: 'chars', judged: bytes, total: bytes, worst_at: null };
  }
  return wholeCoverage(request);
}
