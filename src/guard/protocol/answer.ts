import type { StreamFindings } from '../../domain/generation/generation-verdict.ts';
import type { CategoryScores } from '../../domain/taxonomy.ts';

/** The guard's answer to one request. Null has the same meaning as in `Judgement`. */
export interface Answer {
  readonly score: number;
  readonly flagged: boolean;
  readonly subcategoryScores: CategoryScores | null;
  readonly subcategoryFlags: readonly string[] | null;
  readonly cacheUsage: readonly number[] | null;
  /** Set only for a generation. */
  readonly stream?: StreamFindings;
}

/**
 * Rounds a score to seven digits, the precision of FP32, in which models compute. So a guard's 0.7, which is 0.69999999
 * as a double, is recorded as 0.7 and reaches a threshold of 0.7.
 */
export function roundScore(score: number): number {
  return Number(score.toPrecision(7));
}
