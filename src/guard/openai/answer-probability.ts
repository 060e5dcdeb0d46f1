import type { Completion, Token } from './completion.ts';

/** Spaces, in the forms that tokenizers write. */
const SPACE = /^[\s\u2581\u0120\u010a]+/;

/** Characters before a token to examine: enough for the text before an answer, and spaces. */
const SEEN = 64;

/**
 * Probability of `answers[0]` where the model gave one of the answers, as a fraction of all answers. A token counts for
 * an answer if it begins with the answer, or the answer begins with it, ignoring leading spaces and case. `after` is
 * the text before the answer, at its last occurrence; empty if the answer begins the reply. Null if the server gives no
 * probabilities; undefined if no token there is one of the answers, which makes the reply invalid.
 */
export function answerProbability(
  { tokens }: Completion,
  answers: readonly string[],
  after = '',
): number | null | undefined {
  if (tokens === null) return null;
  const sums = answers.map(() => 0);
  for (const { text, logprob } of findAnswerToken(tokens, after)?.alternatives ?? []) {
    const index = findAnswer(withoutSpaces(text), answers);
    if (index !== null) sums[index]! += Math.exp(Math.min(0, logprob));
  }
  const total = sums.reduce((sum, share) => sum + share, 0);
  return total === 0 ? undefined : sums[0]! / total;
}

interface YesOrNo {
  readonly isYes: boolean;
  /** Probability of yes; null if the server gives no probabilities. */
  readonly probability: number | null;
}

/**
 * Reads the answer from a completion whose whole text matches `pattern`, with `yes` or `no` as its first group; null if
 * it does not match. `after` is the text before the answer.
 */
export function readYesOrNo(completion: Completion, pattern: RegExp, after = ''): YesOrNo | null {
  const word = pattern.exec(completion.text)?.[1]?.toLowerCase();
  const probability = answerProbability(completion, ['yes', 'no'], after);
  return word === undefined || probability === undefined ? null : { isYes: word === 'yes', probability };
}

/** The first token after the text that is not just spaces. */
function findAnswerToken(tokens: readonly Token[], after: string): Token | undefined {
  let seen = '';
  let from = after === '' ? 0 : -1;
  for (const [index, { text }] of tokens.entries()) {
    seen = (seen + text).slice(-SEEN);
    if (after !== '' && seen.trimEnd().endsWith(after)) from = index + 1;
  }
  return from < 0 ? undefined : tokens.slice(from).find(({ text }) => withoutSpaces(text) !== '');
}

/**
 * Index of the only answer that begins with the text, or that the text begins with; null if there are none or several.
 */
function findAnswer(text: string, answers: readonly string[]): number | null {
  if (text === '') return null;
  const found = answers.flatMap((answer, index) =>
    answer.startsWith(text) || (text.startsWith(answer) && !/^[a-z]/.test(text.slice(answer.length)))
      ? [index]
      : [],
  );
  return found.length === 1 ? found[0]! : null;
}

function withoutSpaces(text: string): string {
  return text.replace(SPACE, '').toLowerCase();
}
