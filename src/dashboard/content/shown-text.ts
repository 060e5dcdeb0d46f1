import type { MarkedSpan } from '../api/items.ts';

/** Most of a text that is shown, in UTF-16 units: some 40 pages. */
export const MAX_SHOWN = 100_000;

/** What is shown before the mark of a longer text. */
const BEFORE_MARK = 20_000;

interface ShownText {
  readonly text: string;
  readonly marked: MarkedSpan | null;
  /** Whether it is a part of the text. */
  readonly cut: boolean;
}

/** A text as it is shown: of a long one, the part around what is marked, or its beginning. Never ends within a character. */
export function shownText(text: string, marked: MarkedSpan | null, max = MAX_SHOWN): ShownText {
  if (text.length <= max) return { text, marked, cut: false };
  const wanted = Math.max(0, (marked?.from ?? 0) - Math.min(BEFORE_MARK, max / 2));
  const from = between(text, Math.min(wanted, text.length - max));
  const to = between(text, from + max);
  const span = marked && { from: marked.from - from, to: Math.min(marked.to, to) - from };
  return { text: text.slice(from, to), marked: span, cut: true };
}

/** The position, or the one before if it is within a surrogate pair. */
function between(text: string, at: number): number {
  const isLow = (text.charCodeAt(at) & 0xfc00) === 0xdc00;
  return isLow && at > 0 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800 ? at - 1 : at;
}
