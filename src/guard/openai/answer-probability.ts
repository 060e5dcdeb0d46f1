import type { Token } from './completion.ts';

/** Spaces, and how tokenizers write one. */
const SPACE = /^[\s\u2581\u0120\u010a]+/;

/**
 * The probability of each answer at the place where the model gave one: that of every token that begins with it or that it
 * begins with, after spaces and in any case, added up, as a share of all answers. `after`: the text that the answer follows,
 * at its last occurrence; empty: the answer begins the reply. Null when no token there is one of the answers.
 */
export function answerProbabilities(
  tokens: readonly Token[],
  answers: readonly string[],
  after = '',
): readonly number[] | null {
  const at = answerToken(tokens, after);
  if (at === undefined) return null;
  const sums = answers.map(() => 0);
  for (const { text, logprob } of at.alternatives) {
    const index = answerOf(plain(text), answers);
    if (index !== null) sums[index]! += Math.exp(Math.min(0, logprob));
  }
  const total = sums.reduce((sum, share) => sum + share, 0);
  return total === 0 ? null : sums.map((share) => share / total);
}

/** Text before a token that is examined: enough for what an answer follows, and spaces. */
const SEEN = 64;

/** The first token after the text that is more than spaces. */
function answerToken(tokens: readonly Token[], after: string): Token | undefined {
  let seen = '';
  let from = after === '' ? 0 : -1;
  for (const [index, { text }] of tokens.entries()) {
    seen = (seen + text).slice(-SEEN);
    if (after !== '' && seen.trimEnd().endsWith(after)) from = index + 1;
  }
  return from < 0 ? undefined : tokens.slice(from).find(({ text }) => plain(text) !== '');
}

/** The only answer that a token begins, or that begins the token; null when there is none, or several. */
function answerOf(text: string, answers: readonly string[]): number | null {
  if (text === '') return null;
  const found = answers.flatMap((answer, index) =>
    answer.startsWith(text) || (text.startsWith(answer) && !/^[a-z]/.test(text.slice(answer.length)))
      ? [index]
      : [],
  );
  return found.length === 1 ? found[0]! : null;
}

function plain(text: string): string {
  return text.replace(SPACE, '').toLowerCase();
}
