import { graphemeBoundary } from '../../domain/text/characters.ts';

/** A range of positions in text, in UTF-16 units. `to` is exclusive. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Fraction of a window that the next one repeats: a passage across a boundary is then read in one piece. */
const OVERLAP_SHARE = 1 / 8;
/** Fraction of a window that may be given up to end it after a sentence, or after a word. */
const SENTENCE_SHARE = 1 / 2;
const WORD_SHARE = 1 / 4;

/** End of a sentence, in scripts with and without spaces, or of a line. */
const SENTENCE_END = /(?:[.!?…؟۔।]["'”’»)\]]*\s+|[。！？｡]["'”’」』）]*|\n\s*)/gu;

/**
 * Cuts text lazily into windows of at most `maxBytes` bytes of UTF-8 (at least 64). Each window repeats the end of the
 * one before. A window ends after a sentence if one ends near the limit, otherwise after a word, otherwise after a
 * grapheme. Every code point other than white space is in a window; windows of only white space are omitted.
 */
export function* textSpans(text: string, maxBytes: number): Generator<Span> {
  for (let from = 0; from < text.length;) {
    const limit = advance(text, from, maxBytes);
    const to = limit === text.length ? limit : boundaryBefore(text, from, limit);
    if (/\S/.test(text.slice(from, to))) yield { from, to };
    if (to === text.length) return;
    from = overlapStart(text, from, to, maxBytes * OVERLAP_SHARE);
  }
}

/** The last position, never within a code point, up to which the text has at most `maxBytes` bytes. */
function advance(text: string, from: number, maxBytes: number): number {
  let bytes = 0;
  let at = from;
  while (at < text.length) {
    const point = text.codePointAt(at)!;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    if (bytes > maxBytes) return at;
    at += point < 0x10000 ? 1 : 2;
  }
  return at;
}

function boundaryBefore(text: string, from: number, limit: number): number {
  const length = limit - from;
  const sentenceFrom = Math.ceil(limit - length * SENTENCE_SHARE);
  let sentenceEnd = -1;
  for (const match of text.slice(sentenceFrom, limit).matchAll(SENTENCE_END)) {
    sentenceEnd = sentenceFrom + match.index + match[0].length;
  }
  if (sentenceEnd > from) return sentenceEnd;
  const wordFrom = Math.ceil(limit - length * WORD_SHARE);
  for (let at = limit; at > wordFrom; at--) if (isSpace(text, at - 1)) return at;
  return graphemeBoundary(text, from, limit);
}

/** Start of the next window: inside the current one but after its start, and after a word if there is one. */
function overlapStart(text: string, from: number, to: number, overlapBytes: number): number {
  let at = to;
  let bytes = 0;
  while (at > from + 1) {
    const step = isLowSurrogate(text, at - 1) && isHighSurrogate(text, at - 2) ? 2 : 1;
    bytes += Buffer.byteLength(text.slice(at - step, at));
    if (bytes > overlapBytes || at - step <= from) break;
    at -= step;
  }
  for (let word = at; word < to; word++) if (isSpace(text, word - 1)) return word;
  return at;
}

function isSpace(text: string, at: number): boolean {
  return /\s/.test(text[at] ?? '');
}

function isHighSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLowSurrogate(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  return unit >= 0xdc00 && unit <= 0xdfff;
}
