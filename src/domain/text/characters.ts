/** Zero-width characters: combining marks, joiners, variation selectors. */
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}]$/u;

/** Characters that take two columns: East Asian wide and fullwidth ones (Unicode Standard Annex 11), and emoji shown as pictures. */
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}\p{Emoji_Presentation}]$/u;

/** Below this every character takes one column. */
const FIRST_UNUSUAL = 0x300;

function columnsOf(character: string): number {
  if (character.codePointAt(0)! < FIRST_UNUSUAL) return 1;
  if (ZERO.test(character)) return 0;
  return WIDE.test(character) ? 2 : 1;
}

/** Width of a line on a terminal, in columns. Terminals differ in rare characters; escape control characters first. */
export function displayWidth(line: string): number {
  let columns = 0;
  for (const character of line) columns += columnsOf(character);
  return columns;
}

/** Truncates a line to at most `columns` columns; a truncated line ends with `…`. */
export function truncateToWidth(line: string, columns: number): string {
  // No character takes more than two columns.
  if (line.length * 2 <= columns || displayWidth(line) <= columns) return line;
  let left = columns - 1;
  let end = 0;
  for (const character of line) {
    left -= columnsOf(character);
    if (left < 0) break;
    end += character.length;
  }
  return columns > 0 ? `${line.slice(0, end)}…` : '';
}

/** Pads a text with spaces to `columns` columns. */
export function padToWidth(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - displayWidth(text)));
}

/** UTF-16 units around a cut inside a word that are searched for a grapheme boundary. */
const CHARACTER_REACH = 32;

/** Below this, only a line feed after a carriage return continues a grapheme. */
const FIRST_COMBINING_UNIT = 0x300;

/** Created on first use, which takes as long as loading a small package. */
let segmenter: Intl.Segmenter | undefined;

/**
 * Returns the last grapheme boundary after `from` and up to `limit`, or `limit` if there is none close to it. `limit`
 * must be a code point boundary within the text. Positions are UTF-16 units.
 */
export function graphemeBoundary(text: string, from: number, limit: number): number {
  const before = text.charCodeAt(limit - 1);
  const after = text.charCodeAt(limit);
  // Fast path: most text is cut in many places, and segmenting is slow.
  if (before < FIRST_COMBINING_UNIT && after < FIRST_COMBINING_UNIT && text[limit] !== '\n') return limit;
  const start = Math.max(from, limit - CHARACTER_REACH);
  const around = text.slice(start, limit + CHARACTER_REACH);
  // The first segment may be the rest of a grapheme that begins before `start`.
  segmenter ??= new Intl.Segmenter();
  const index = segmenter.segment(around).containing(limit - start)?.index ?? 0;
  return index > 0 ? start + index : limit;
}
