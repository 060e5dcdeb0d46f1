import type { Judgement } from '../outcome.ts';
import { isEmbedded, isMedia, type GenerationRequest, type ItemRequest } from '../request.ts';
import { graphemeBoundary } from './grapheme-boundary.ts';

/** A piece of content that an outcome may hold. */
export interface Snippet {
  readonly text: string;
  /**
   * Hashes of the contents that the item is made of (`partsSha256`), cut to `PART_DIGITS` digits: if any of them is
   * restricted, the outcome holds no piece of the item.
   */
  readonly parts: string[];
}

/** Digits that are kept of a hash: 48 bits. Two contents that share them are both restricted. */
export const PART_DIGITS = 12;

/** UTF-16 units of content in a snippet. */
const SNIPPET_UNITS = 300;
/** Including an ellipsis on either side. */
export const MAX_SNIPPET_UNITS = SNIPPET_UNITS + 2;
/** Units of a content that are examined: more than fit, because white space is collapsed. */
const LOOKED_AT = 4 * SNIPPET_UNITS;

const LEFT_OUT = '…';

/** Control characters, halves of pairs, bidirectional controls, and noncharacters. */
const UNREADABLE = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069\p{Noncharacter_Code_Point}]/gu;
const SPACE = /[\p{White_Space}]+/gu;

/**
 * A piece of an item's content for people, up to 300 UTF-16 units on one line. It begins where the part that decided
 * begins (`coverage.worst_at`), or else at the start; of a conversation it is of the turn that decided, or else the last
 * one; of a generation it ends with the chunk that was flagged. Of an image or a clip it is the caption or transcript. White
 * space is one space, and what cannot be read is U+FFFD. Null where there is no text.
 */
export function createSnippet(
  request: ItemRequest,
  judgement: Pick<Judgement, 'coverage' | 'stream'>,
): string | null {
  const { worst_at: worstAt } = judgement.coverage;
  if (isEmbedded(request)) return null;
  if (isMedia(request)) return pieceFrom(request.caption ?? '', 0);
  switch (request.requestType) {
    case 'prompt':
      return pieceFrom(request.text, worstAt ?? 0);
    case 'response':
      return pieceFrom(request.response, worstAt ?? 0);
    case 'multiturn':
      return pieceFrom(request.messages[worstAt ?? request.turns - 1]?.[1] ?? '', 0);
    case 'generation':
      return pieceOfStream(request, judgement.stream);
  }
}

/** The piece from a code point on. */
function pieceFrom(text: string, codePoint: number): string | null {
  const from = unitAt(text, codePoint);
  const cut = from + LOOKED_AT < text.length;
  const piece = readable(text.slice(from, from + LOOKED_AT));
  if (piece === '') return null;
  const before = from > 0 ? LEFT_OUT : '';
  if (piece.length <= SNIPPET_UNITS) return before + piece + (cut ? LEFT_OUT : '');
  return before + piece.slice(0, graphemeBoundary(piece, 0, wholePairs(piece, SNIPPET_UNITS))) + LEFT_OUT;
}

/** The end of what was shown when the guard flagged the stream or asked for caution, or else the start. */
function pieceOfStream({ chunks }: GenerationRequest, stream: Judgement['stream']): string | null {
  const seq = stream?.firstFlaggedSeq ?? stream?.firstCautionSeq ?? null;
  if (seq === null) return pieceFrom(chunks.join(''), 0);
  const shown = chunks.slice(0, seq + 1).join('');
  const piece = readable(shown.slice(-LOOKED_AT));
  if (piece === '') return null;
  const after = seq + 1 < chunks.length ? LEFT_OUT : '';
  if (piece.length <= SNIPPET_UNITS) return (shown.length > LOOKED_AT ? LEFT_OUT : '') + piece + after;
  const from = wholePairs(piece, piece.length - SNIPPET_UNITS, 1);
  return LEFT_OUT + piece.slice(from) + after;
}

function readable(text: string): string {
  return text.replaceAll(SPACE, ' ').trim().replaceAll(UNREADABLE, '\ufffd');
}

/** The unit at which a code point begins; the end where there are fewer. */
function unitAt(text: string, codePoint: number): number {
  let unit = 0;
  for (let left = codePoint; left > 0 && unit < text.length; left--) {
    unit += text.codePointAt(unit)! > 0xffff ? 2 : 1;
  }
  return unit;
}

/** A place in a text that is not within a pair, one unit to the left or the right if need be. */
function wholePairs(text: string, at: number, step: 1 | -1 = -1): number {
  const isLow = (text.charCodeAt(at) & 0xfc00) === 0xdc00;
  return isLow ? at + step : at;
}
