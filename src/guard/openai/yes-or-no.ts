import { answerProbabilities } from './answer-probability.ts';
import type { Completion } from './completion.ts';

interface YesOrNo {
  readonly isYes: boolean;
  /** Of yes; null when the server gives no probabilities. */
  readonly probability: number | null;
}

/**
 * The answer of a completion whose whole text matches `pattern`, with `yes` or `no` as its first group; null if it does not.
 * `after`: the text before the answer.
 */
export function yesOrNo({ text, tokens }: Completion, pattern: RegExp, after = ''): YesOrNo | null {
  const word = pattern.exec(text)?.[1]?.toLowerCase();
  if (word === undefined) return null;
  const probabilities = tokens && answerProbabilities(tokens, ['no', 'yes'], after);
  if (tokens !== null && probabilities === null) return null;
  return { isYes: word === 'yes', probability: probabilities?.[1] ?? null };
}
