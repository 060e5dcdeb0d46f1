/** UTF-16 units around a cut within a word in which a grapheme boundary is searched. */
const CHARACTER_REACH = 32;

/**
 * The last grapheme boundary after `from` and up to `limit`; `limit` itself, which must be a code point boundary, if
 * there is none close to it. Positions are UTF-16 units.
 */
export function graphemeBoundary(text: string, from: number, limit: number): number {
  const start = Math.max(from, limit - CHARACTER_REACH);
  const around = text.slice(start, limit + CHARACTER_REACH);
  let boundary = from;
  for (const { index } of new Intl.Segmenter().segment(around)) {
    // The first segment may be the rest of a grapheme that begins before `start`.
    if (index > 0 && start + index <= limit) boundary = start + index;
  }
  return boundary > from ? boundary : limit;
}
