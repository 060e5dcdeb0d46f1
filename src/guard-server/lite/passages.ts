import { SEPARATOR } from './character-classes.ts';

/**
 * In UTF-16 code units after normalisation. A text up to this length is one passage, judged as a whole. Passages of a
 * longer text are also judged together in windows, which end at the first passage that reaches this length.
 */
export const WINDOW_UNITS = 1024;

/** Bounds of a passage of a longer text: a sentence or a line, merged or cut to fit. */
const MIN_PASSAGE_UNITS = 24;
const MAX_PASSAGE_UNITS = 240;

/** These end a sentence before a space; the wide ones always do. */
const STOPS = '.!?';
const WIDE_STOPS = '。！？\n';

interface Passage {
  /** Code units, `to` excluded. */
  readonly from: number;
  readonly to: number;
  readonly endsWindow: boolean;
}

/** Cuts a normalised text into its passages, at least one. Linear in its length. */
export function* passagesOf(text: string, classes: Uint8Array): Generator<Passage> {
  if (text.length <= WINDOW_UNITS) {
    yield { from: 0, to: text.length, endsWindow: true };
    return;
  }
  let windowFrom = 0;
  for (let from = 0; from < text.length;) {
    const to = passageEnd(text, from, classes);
    const endsWindow = to === text.length || to - windowFrom >= WINDOW_UNITS;
    yield { from, to, endsWindow };
    if (endsWindow) windowFrom = to;
    from = to;
  }
}

function passageEnd(text: string, from: number, classes: Uint8Array): number {
  const longest = Math.min(text.length, from + MAX_PASSAGE_UNITS);
  let wordEnd = longest;
  for (let at = from + MIN_PASSAGE_UNITS; at < longest; at++) {
    const unit = text[at]!;
    if (WIDE_STOPS.includes(unit)) return at + 1;
    const next = text[at + 1];
    if (STOPS.includes(unit) && (next === ' ' || next === '\n')) return at + 1;
    if (classes[text.charCodeAt(at)] === SEPARATOR) wordEnd = at + 1;
  }
  return longest === text.length ? longest : wordEnd;
}
