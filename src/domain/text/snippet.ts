import type { Judgement } from '../outcome.ts';
import { isEmbedded, isMedia, type GenerationRequest, type ItemRequest } from '../request.ts';
import { graphemeBoundary } from './characters.ts';

/** An excerpt of content that an outcome may include. */
export interface Snippet {
  readonly text: string;
  /**
   * Hashes of the parts of the item (`partsSha256`), truncated to `PART_DIGITS` digits. If any part is restricted, the
   * outcome includes no excerpt.
   */
  readonly parts: string[];
}

/** Hex digits kept of a hash: 48 bits. If two items share them, both are restricted. */
export const PART_DIGITS = 12;

/** Maximum UTF-16 units of content in a snippet. */
const SNIPPET_UNITS = 300;
/** Maximum including an ellipsis on either side. */
export const MAX_SNIPPET_UNITS = SNIPPET_UNITS + 2;
/** UTF-16 units to examine: more than fit, because white space is collapsed. */
const LOOKED_AT = 4 * SNIPPET_UNITS;

const LEFT_OUT = '…';

/** Control characters, halves of surrogate pairs, bidirectional controls, and noncharacters. */
const UNREADABLE = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069\p{Noncharacter_Code_Point}]/gu;
const SPACE = /[\p{White_Space}]+/gu;

/**
 * Creates a human-readable excerpt of an item's content: up to 300 UTF-16 units on one line. For text, it begins at the
 * part with the highest score (`coverage.worst_at`), or else at the start. For a conversation, it is from the turn with
 * the highest score, or else the last one. For a generation, it ends with the flagged chunk. For an image or an audio
 * clip, it is the caption or transcript. White space becomes one space, unreadable characters become U+FFFD. Null if
 * there is no text.
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

/** The excerpt that begins at a given code point. */
function pieceFrom(text: string, codePoint: number): string | null {
  const from = unitAt(text, codePoint);
  const cut = from + LOOKED_AT < text.length;
  const piece = toReadable(text.slice(from, from + LOOKED_AT));
  if (piece === '') return null;
  const before = from > 0 ? LEFT_OUT : '';
  if (piece.length <= SNIPPET_UNITS) return before + piece + (cut ? LEFT_OUT : '');
  return before + piece.slice(0, graphemeBoundary(piece, 0, wholePairs(piece, SNIPPET_UNITS))) + LEFT_OUT;
}

/** The end of what had been streamed when the guard flagged it or asked for caution, or else the start. */
function pieceOfStream({ chunks }: GenerationRequest, stream: Judgement['stream']): string | null {
  const seq = stream?.firstFlaggedSeq ?? stream?.firstCautionSeq ?? null;
  if (seq === null) return pieceFrom(chunks.join(''), 0);
  const shown = chunks.slice(0, seq + 1).join('');
  const piece = toReadable(shown.slice(-LOOKED_AT));
  if (piece === '') return null;
  const after = seq + 1 < chunks.length ? LEFT_OUT : '';
  if (piece.length <= SNIPPET_UNITS) return (shown.length > LOOKED_AT ? LEFT_OUT : '') + piece + after;
  const from = wholePairs(piece, piece.length - SNIPPET_UNITS, 1);
  return LEFT_OUT + piece.slice(from) + after;
}

function toReadable(text: string): string {
  return text.replaceAll(SPACE, ' ').trim().replaceAll(UNREADABLE, '\ufffd');
}

/** Returns the UTF-16 index of a code point, or the length of the string if it has fewer. */
function unitAt(text: string, codePoint: number): number {
  let unit = 0;
  for (let left = codePoint; left > 0 && unit < text.length; left--) {
    unit += text.codePointAt(unit)! > 0xffff ? 2 : 1;
  }
  return unit;
}

/** Moves an index by `step` if it is within a surrogate pair. */
function wholePairs(text: string, at: number, step: 1 | -1 = -1): number {
  const isLow = (text.charCodeAt(at) & 0xfc00) === 0xdc00;
  return isLow ? at + step : at;
}
