/** UTF-16 units around a cut within a word in which a grapheme boundary is searched. */
const CHARACTER_REACH = 32;

/** Below this, only a line feed after a carriage return continues a grapheme. */
const FIRST_COMBINING_UNIT = 0x300;

const SEGMENTER = new Intl.Segmenter();

/**
 * The last grapheme boundary after `from` and up to `limit`; `limit` itself, which must be a code point boundary within
 * the text, if there is none close to it. Positions are UTF-16 units.
 */
export function graphemeBoundary(text: string, from: number, limit: number): number {
  const before = text.charCodeAt(limit - 1);
  const after = text.charCodeAt(limit);
  // Fast path: most texts are cut in many places, and segmenting takes long.
  if (before < FIRST_COMBINING_UNIT && after < FIRST_COMBINING_UNIT && text[limit] !== '\n') return limit;
  const start = Math.max(from, limit - CHARACTER_REACH);
  const around = text.slice(start, limit + CHARACTER_REACH);
  // The first segment may be the rest of a grapheme that begins before `start`.
  const index = SEGMENTER.segment(around).containing(limit - start)?.index ?? 0;
  return index > 0 ? start + index : limit;
}
