/** A piece of a text, by its UTF-16 positions. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** Share of a window that the next one repeats, so that what is said across a border is read in one piece. */
const OVERLAP_SHARE = 1 / 8;
/** How far back from its end a window may be cut short, for the border of a sentence, and for that of a word. */
const SENTENCE_SHARE = 1 / 2;
const WORD_SHARE = 1 / 4;
/** UTF-16 units around a cut within a word in which the border of a character is looked for. */
const CHARACTER_REACH = 32;

/** What ends a sentence, in scripts with spaces and without, or a line. */
const SENTENCE_END = /(?:[.!?…؟۔।]["'”’»)\]]*\s+|[。！？｡]["'”’」』）]*|\n\s*)/gu;

/**
 * Cuts a text into windows of at most `maxBytes` bytes of UTF-8, each repeating the end of the one before: after a
 * sentence where there is one near, else after a word, else after a character as people see it. Every code point that
 * is no white space is in one of them; windows of white space alone are left out. `maxBytes` is at least 64. Each is
 * cut when it is asked for.
 */
export function* textSpans(text: string, maxBytes: number): Generator<Span> {
  for (let from = 0; from < text.length;) {
    const limit = advance(text, from, maxBytes);
    const to = limit === text.length ? limit : borderBefore(text, from, limit);
    if (/\S/.test(text.slice(from, to))) yield { from, to };
    if (to === text.length) return;
    from = overlapStart(text, from, to, maxBytes * OVERLAP_SHARE);
  }
}

/** The farthest position, never within a code point, such that the text up to there has at most so many bytes. */
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

function borderBefore(text: string, from: number, limit: number): number {
  const length = limit - from;
  const sentenceFrom = Math.ceil(limit - length * SENTENCE_SHARE);
  let sentenceEnd = -1;
  for (const match of text.slice(sentenceFrom, limit).matchAll(SENTENCE_END)) {
    sentenceEnd = sentenceFrom + match.index + match[0].length;
  }
  if (sentenceEnd > from) return sentenceEnd;
  const wordFrom = Math.ceil(limit - length * WORD_SHARE);
  for (let at = limit; at > wordFrom; at--) if (isSpace(text, at - 1)) return at;
  return characterBorder(text, from, limit);
}

/** Where the next window begins: in the window before, after a word if there is one, and beyond that one's begin. */
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

/** The last border of a character, as people see it, that is not beyond `limit`. */
function characterBorder(text: string, from: number, limit: number): number {
  const start = Math.max(from, limit - CHARACTER_REACH);
  const around = text.slice(start, limit + CHARACTER_REACH);
  let border = from;
  for (const { index } of new Intl.Segmenter().segment(around)) {
    // The first one may be the rest of a character that begins before.
    if (index > 0 && start + index <= limit) border = start + index;
  }
  return border > from ? border : limit;
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
