import { SEPARATOR } from './character-classes.ts';

/**
 * UTF-16 code units, after normalisation. A text up to this long is one passage, judged as a whole. The passages of a
 * longer one are also judged together, as windows, each of which is full from this size on.
 */
export const WINDOW_UNITS = 1024;

/** Bounds of a passage of a longer text: a sentence or line, joined or cut where it is beyond them. */
const MIN_PASSAGE_UNITS = 24;
const MAX_PASSAGE_UNITS = 240;

/** Full stop, exclamation and question mark end a sentence when a space follows; those of East Asia always do. */
const STOPS = '.!?';
const WIDE_STOPS = '。！？\n';

export interface Passage {
  /** Code units from, inclusive, and to, exclusive. */
  readonly from: number;
  readonly to: number;
  readonly endsWindow: boolean;
}

/** The passages of a normalised text in order, at least one; together they are the text. Linear in its length. */
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
