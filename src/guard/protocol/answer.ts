import type { StreamFindings } from '../../domain/generation/generation-verdict.ts';
import type { CategoryScores } from '../../domain/taxonomy.ts';

/** The guard's answer to one request. Null means what it means in `Judgement`. */
export interface Answer {
  readonly score: number;
  readonly flagged: boolean;
  readonly subcategoryScores: CategoryScores | null;
  readonly subcategoryFlags: readonly string[] | null;
  readonly cacheUsage: readonly number[] | null;
  /** Only of a generation. */
  readonly stream?: StreamFindings;
}
