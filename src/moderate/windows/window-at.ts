import { codePoints } from '../../domain/coverage.ts';
import { type Span, textSpans } from './text-spans.ts';
import { roomFor, windowSizes } from './text-windows.ts';

/** Max size to search, in bytes of UTF-8. For longer texts, trying windows of every size takes seconds. */
const MAX_SEARCHED_BYTES = 512 * 1024;
/** Assumed window length of a longer text, in UTF-16 units. */
const USUAL_LENGTH = 2048;

/**
 * The largest window that a guard may have judged at a code point. `beside` is the prompt that a response was judged
 * with. Null if no window begins there.
 */
export function findWindow(text: string, at: number, beside = ''): Span | null {
  const own = Buffer.byteLength(text);
  const other = Buffer.byteLength(beside);
  if (own > MAX_SEARCHED_BYTES) return usualWindow(text, at);
  for (const size of windowSizes(own + other)) {
    const room = other === 0 ? size : roomFor(own, other, size);
    const span = own <= room ? wholeAt(text, at) : spanAt(text, room, at);
    if (span !== null) return span;
  }
  return null;
}

function wholeAt(text: string, at: number): Span | null {
  return at === 0 ? { from: 0, to: text.length } : null;
}

function spanAt(text: string, maxBytes: number, at: number): Span | null {
  let seen = 0;
  let points = 0;
  for (const span of textSpans(text, maxBytes)) {
    points += codePoints(text.slice(seen, span.from));
    seen = span.from;
    if (points === at) return span;
    if (points > at) return null;
  }
  return null;
}

function usualWindow(text: string, at: number): Span | null {
  const from = unitOf(text, at);
  return from === null ? null : { from, to: Math.min(text.length, from + USUAL_LENGTH) };
}

/** Position of a code point in UTF-16 units; null past the end of the text. */
function unitOf(text: string, at: number): number | null {
  let unit = 0;
  for (let point = 0; point < at && unit < text.length; point++) {
    unit += text.codePointAt(unit)! >= 0x10000 ? 2 : 1;
  }
  return unit < text.length ? unit : null;
}
