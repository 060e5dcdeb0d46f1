import { answerProbabilities } from './answer-probability.ts';
import type { Completion } from './completion.ts';

interface YesOrNo {
  readonly isYes: boolean;
  /** Of yes; null when the server gives no probabilities. */
  readonly probability: number | null;
}

/** The answer that a completion begins with, or that follows the last `after`; null when it is neither yes nor no. */
export function yesOrNo({ text, tokens }: Completion, after = ''): YesOrNo | null {
  const at = after === '' ? 0 : text.lastIndexOf(after) + after.length;
  const word = /^[a-z]{1,4}/i.exec(text.slice(at).trimStart())?.[0].toLowerCase();
  if (word !== 'yes' && word !== 'no') return null;
  const probabilities = tokens && answerProbabilities(tokens, ['no', 'yes'], after);
  if (tokens !== null && probabilities === null) return null;
  return { isYes: word === 'yes', probability: probabilities?.[1] ?? null };
}
