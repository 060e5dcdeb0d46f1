import type { CategoryKey } from '../../domain/taxonomy.ts';

/** What the guard answered for one request; the rules for null are those of `Judgement`. */
export interface Answer {
  readonly score: number;
  readonly flagged: boolean;
  readonly subcategoryScores: Readonly<Partial<Record<CategoryKey, number>>> | null;
  readonly subcategoryFlags: readonly string[] | null;
  readonly cacheUsage: readonly number[] | null;
}
