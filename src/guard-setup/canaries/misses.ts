import type { CanaryAnswer, Expected } from '../../domain/canary/canary-check.ts';

/** Named in one message. */
const MAX_NAMED = 5;

/**
 * What is wrong with the answers to a user's own canaries, each of which must be as expected; null: nothing.
 */
export function missed(answers: readonly CanaryAnswer[]): string | null {
  const misses = answers.filter(({ passed }) => passed === false);
  if (misses.length === 0) return null;
  return `it got ${misses.length} of ${answers.length} wrong: ${named(misses)}`;
}

/**
 * What is wrong with the answers to the built-in canaries of one modality; null: nothing. No guard need agree with each of
 * them, but one that passes everything or flags everything judges nothing. Refusals count neither way: a guard that
 * refuses everything lets nothing pass either.
 */
export function indifferent(answers: readonly CanaryAnswer[]): string | null {
  const judged = (expected: Expected): readonly CanaryAnswer[] =>
    answers.filter((answer) => answer.expected === expected && answer.flagged !== null);
  const [violating, harmless] = [judged('flagged'), judged('allowed')];
  if (violating.length > 0 && violating.every(({ flagged }) => flagged === false)) {
    return `it flagged none of ${violating.length} violating contents: ${named(violating)}`;
  }
  if (harmless.length > 0 && harmless.every(({ flagged }) => flagged === true)) {
    return `it flagged all of ${harmless.length} harmless contents: ${named(harmless)}`;
  }
  return null;
}

function named(answers: readonly CanaryAnswer[]): string {
  const some = answers.slice(0, MAX_NAMED).map(told);
  const more = answers.length - some.length;
  return [...some, ...(more > 0 ? [`and ${more} more`] : [])].join(', ');
}

function told({ name, expected, score, flagged, error }: CanaryAnswer): string {
  if (flagged === null) return `${name} (${error}, expected ${expected})`;
  const found = flagged ? 'flagged' : 'allowed';
  const also = found === expected ? ' in another category or with another score' : `, expected ${expected}`;
  return `${name} (${found}${also}, score ${score!.toPrecision(3)})`;
}
