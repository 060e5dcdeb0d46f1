import { SEPARATOR } from './character-classes.ts';

/**
 * Max length of a piece in UTF-16 code units after normalisation. In a longer text, each pair of adjacent pieces is
 * judged as one window: windows overlap by half.
 */
export const MAX_PIECE_UNITS = 160;
export const WINDOW_UNITS = 2 * MAX_PIECE_UNITS;

/** A piece ends with the first sentence or line that reaches this length. */
const MIN_PIECE_UNITS = 64;

/** Characters that end a sentence before a space; the wide ones always do. */
const STOPS = '.!?';
const WIDE_STOPS = '。！？\n';

/** Code units of a piece, `to` excluded. */
interface Piece {
  readonly from: number;
  readonly to: number;
}

/** Cuts a normalised text into one or more pieces. Linear in its length. */
export function* piecesOf(text: string, classes: Uint8Array): Generator<Piece> {
  if (text.length <= MAX_PIECE_UNITS) {
    yield { from: 0, to: text.length };
    return;
  }
  for (let from = 0; from < text.length;) {
    const to = pieceEnd(text, from, classes);
    yield { from, to };
    from = to;
  }
}

function pieceEnd(text: string, from: number, classes: Uint8Array): number {
  const longest = Math.min(text.length, from + MAX_PIECE_UNITS);
  let wordEnd = longest;
  for (let at = from + MIN_PIECE_UNITS; at < longest; at++) {
    const unit = text[at]!;
    if (WIDE_STOPS.includes(unit)) return at + 1;
    const next = text[at + 1];
    if (STOPS.includes(unit) && (next === ' ' || next === '\n')) return at + 1;
    if (classes[text.charCodeAt(at)] === SEPARATOR) wordEnd = at + 1;
  }
  return longest === text.length ? longest : wordEnd;
}
