import { type Answer, roundScore } from '../protocol/answer.ts';

interface Finding {
  readonly flagged: boolean;
  /** Probability that the content is hazardous; null if the server gives none, which makes the score 0 or 1. */
  readonly probability: number | null;
  /** Flagged categories; null if the model does not name any. */
  readonly categories: readonly string[] | null;
  /** Scores by category; null if the model gives none. */
  readonly scores?: Readonly<Record<string, number>> | null;
}

/** Makes an answer whose categories may have any name. */
export function makeVerdict({ flagged, probability, categories, scores = null }: Finding): Answer {
  return {
    score: probability === null ? Number(flagged) : roundScore(probability),
    flagged,
    subcategoryScores:
      scores && Object.fromEntries(Object.entries(scores).map(([key, score]) => [key, roundScore(score)])),
    subcategoryFlags: categories,
    cacheUsage: null,
  };
}
