import { type Answer, roundScore } from '../protocol/answer.ts';

interface Found {
  readonly flagged: boolean;
  /** That the content is hazardous; null when the server gives no probabilities: the score is then 0 or 1. */
  readonly probability: number | null;
  /** Flagged categories; null: the model does not name any. */
  readonly categories: readonly string[] | null;
  /** By category; null: the model gives none. */
  readonly scores?: Readonly<Record<string, number>> | null;
}

/** An answer whose categories may have any name. */
export function verdict({ flagged, probability, categories, scores = null }: Found): Answer {
  return {
    score: probability === null ? Number(flagged) : roundScore(probability),
    flagged,
    subcategoryScores:
      scores && Object.fromEntries(Object.entries(scores).map(([key, score]) => [key, roundScore(score)])),
    subcategoryFlags: categories,
    cacheUsage: null,
  };
}

/** The verdict of a model that names categories and gives one probability, which is then that of each of them. */
export function namedVerdict(
  flagged: boolean,
  probability: number | null,
  categories: readonly string[],
): Answer {
  const scores =
    flagged && probability !== null ? Object.fromEntries(categories.map((key) => [key, probability])) : null;
  return verdict({ flagged, probability, categories: flagged ? categories : null, scores });
}
