/** Characters that show nothing (zero-width, soft hyphen, directional marks): put inside a word, they hide it. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** Cyrillic and Greek letters that look like a Latin one, beside a Latin letter. */
const HOMOGLYPH = /(?<=[a-z])[аеорсухіјѕһԁαορν]+|[аеорсухіјѕһԁαορν]+(?=[a-z])/g;
const HOMOGLYPHS = 'аеорсухіјѕһԁαορν';
const HOMOGLYPH_LETTERS = 'aeopcyxijshdaopv';

/** Digits and signs between Latin letters, where they stand for letters; the `@` of an address does not. */
const STAND_IN = /(?<=[a-z])[013457@$]{1,3}(?=[a-z])(?![a-z0-9-]*\.[a-z])/g;
const STAND_INS = '013457@$';
const STAND_IN_LETTERS = 'oieastas';

/** Single Latin letters with one separator between each two: a word spelled out. Bounded, so matching is linear. */
const SPELLED_OUT = /(?<![\p{L}\p{N}])[a-z](?:[ .\-_*][a-z]){2,30}(?![\p{L}\p{N}])/gu;

/** A Latin letter three times or more in a row; no language of the corpus spells that way. */
const STRETCHED = /([a-z])\1{2,}/g;

function replaceEach(run: string, from: string, to: string): string {
  let result = '';
  for (const character of run) result += to[from.indexOf(character)]!;
  return result;
}

/**
 * Brings a text into the form its features are taken from: compatibility forms folded (NFKC: full-width letters,
 * ligatures, mathematical alphabets), lower case, and the common disguises of a word undone: invisible characters,
 * look-alike letters of other scripts, digits for letters, letters spelled out one by one or stretched. Time is
 * linear in the length.
 */
export function normalise(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(INVISIBLE, '')
    .replace(HOMOGLYPH, (run) => replaceEach(run, HOMOGLYPHS, HOMOGLYPH_LETTERS))
    .replace(STAND_IN, (run) => replaceEach(run, STAND_INS, STAND_IN_LETTERS))
    .replace(SPELLED_OUT, (run) => run.replace(/[ .\-_*]/g, ''))
    .replace(STRETCHED, '$1$1');
}
