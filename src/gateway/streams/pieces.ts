/** Max code units of a piece, which has up to three bytes for each: less than MAX_STREAM_TEXT_BYTES. */
const MAX_PIECE = 256 * 1024;

/** Cuts a text into pieces that fit in a message to a guard, between characters. The empty text has none. */
export function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let start = 0; start < text.length;) {
    const end = start + MAX_PIECE;
    const isInPair = end < text.length && text.codePointAt(end - 1)! > 0xffff;
    const piece = text.slice(start, isInPair ? end - 1 : end);
    pieces.push(piece);
    start += piece.length;
  }
  return pieces;
}
