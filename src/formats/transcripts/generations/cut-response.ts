import { graphemeBoundary } from '../../../domain/text/grapheme-boundary.ts';

/** Cuts a response into chunks of at most `maxChars` code points, after a grapheme where one ends near the limit. */
export function cutResponse(response: string, maxChars: number): string[] {
  const chunks: string[] = [];
  for (let from = 0; from < response.length;) {
    const limit = advance(response, from, maxChars);
    const to = limit === response.length ? limit : graphemeBoundary(response, from, limit);
    chunks.push(response.slice(from, to));
    from = to;
  }
  return chunks;
}

/** The position `points` code points after `from`, or the end of the text. */
function advance(text: string, from: number, points: number): number {
  let at = from;
  for (let point = 0; point < points && at < text.length; point++) {
    at += text.codePointAt(at)! < 0x10000 ? 1 : 2;
  }
  return at;
}
