// The classes of UTF-16 code units that the feature extractor distinguishes.

export const SEPARATOR = 0;
/** Letter or mark of a script with spaces between words. */
const LETTER = 1;
export const DIGIT = 2;
/** Letter of a script written without spaces (Han, kana, Thai), or half of a surrogate pair, such as an emoji's. */
export const UNSPACED = 3;
/** Hangul: written with spaces, but a code unit is a syllable of two or three letters. */
export const SYLLABLE = 4;

const HANGUL = /\p{Script=Hangul}/u;
const UNSPACED_SCRIPT =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\u30fc]/u;
const LETTER_OR_MARK = /[\p{L}\p{M}]/u;
const NUMBER = /\p{N}/u;

const CODE_UNITS = 0x10000;
const FIRST_SURROGATE = 0xd800;
const LAST_SURROGATE = 0xdfff;

function classOf(unit: number): number {
  if (unit >= FIRST_SURROGATE && unit <= LAST_SURROGATE) return UNSPACED;
  const character = String.fromCharCode(unit);
  if (HANGUL.test(character)) return SYLLABLE;
  if (UNSPACED_SCRIPT.test(character)) return UNSPACED;
  if (NUMBER.test(character)) return DIGIT;
  return LETTER_OR_MARK.test(character) ? LETTER : SEPARATOR;
}

/** The class of every code unit. Takes milliseconds to build: once per extractor. */
export function characterClasses(): Uint8Array {
  const classes = new Uint8Array(CODE_UNITS);
  for (let unit = 0; unit < CODE_UNITS; unit++) classes[unit] = classOf(unit);
  return classes;
}
