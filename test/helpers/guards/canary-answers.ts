import { BUILT_IN_CANARIES, CANARY_PICTURE } from '../../../src/domain/canary/built-in.ts';

/** How a fake guard answers the built-in canaries, which its script never sees. */
export type CanaryAnswers = 'right' | 'flags all' | 'flags none';

const PICTURE = CANARY_PICTURE.toString('base64');
const BY_TEXT = new Map(BUILT_IN_CANARIES.map(({ text, expected }) => [text, expected === 'flagged']));

/** The score of a built-in canary; null: this is none. `image`: in base64. */
export function canaryScore(
  { text, image }: { readonly text?: string | undefined; readonly image?: string | undefined },
  answers: CanaryAnswers,
): number | null {
  const flagged =
    text === undefined || text === '' ? (image === PICTURE ? false : undefined) : BY_TEXT.get(text);
  if (flagged === undefined) return null;
  return (answers === 'right' ? flagged : answers === 'flags all') ? 0.9 : 0.1;
}
