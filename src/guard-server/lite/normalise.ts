/** Invisible characters (zero-width, soft hyphen, directional marks), which can be used to break up a word. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** Cyrillic and Greek letters that look like a Latin one. */
const HOMOGLYPH = /[аеорсухіјѕһԁαορν]+/g;
const HOMOGLYPHS = 'аеорсухіјѕһԁαορν';
const HOMOGLYPH_LETTERS = 'aeopcyxijshdaopv';

/** Digits and signs between Latin letters, where they may replace letters. */
const STAND_IN = /(?<=[a-z])[013457@$]{1,3}(?=[a-z])/g;
/** The rest of a word, and the start of a domain after it. */
const REST_OF_WORD = /[a-z0-9-]*(\.[a-z])?/y;
const STAND_INS = '013457@$';
const STAND_IN_LETTERS = 'oieastas';

/** A spelled-out word: single Latin letters with one separator in between. Bounded, so matching is linear. */
const SPELLED_OUT = /(?<![\p{L}\p{N}])[a-z](?:[ .\-_*][a-z]){2,30}(?![\p{L}\p{N}])/gu;

/** A Latin letter three or more times in a row, which no language of the corpus uses. */
// linear: it moves on by the run that it has matched, and fails at its third character otherwise.
const STRETCHED = /([a-z])\1{2,}/g;

function replaceEach(run: string, from: string, to: string): string {
  let result = '';
  for (const character of run) result += to[from.indexOf(character)]!;
  return result;
}

/** Look-alikes next to a Latin letter become Latin; words in other scripts stay. */
function replaceHomoglyphs(text: string): string {
  const isLatin = (at: number): boolean => text[at]! >= 'a' && text[at]! <= 'z';
  return text.replace(HOMOGLYPH, (run, offset: number) =>
    isLatin(offset - 1) || isLatin(offset + run.length)
      ? replaceEach(run, HOMOGLYPHS, HOMOGLYPH_LETTERS)
      : run,
  );
}

/** Digits and signs become letters, except in addresses. The rest of each word is scanned only once. */
function replaceStandIns(text: string): string {
  let end = 0;
  let isAddress = false;
  return text.replace(STAND_IN, (run, offset: number) => {
    const after = offset + run.length;
    if (after >= end) {
      REST_OF_WORD.lastIndex = after;
      const [rest, domain] = REST_OF_WORD.exec(text)!;
      end = after + rest.length - (domain?.length ?? 0);
      isAddress = domain !== undefined;
    }
    return isAddress ? run : replaceEach(run, STAND_INS, STAND_IN_LETTERS);
  });
}

/**
 * Normalises a text for feature extraction: NFKC (full-width letters, ligatures, mathematical alphabets), lower case,
 * and common disguises undone: invisible characters, look-alike letters of other scripts, digits for letters,
 * spelled-out and stretched words. Time is linear in the length.
 */
export function normalise(text: string): string {
  const visible = text.normalize('NFKC').toLowerCase().replace(INVISIBLE, '');
  return replaceStandIns(replaceHomoglyphs(visible))
    .replace(SPELLED_OUT, (run) => run.replace(/[ .\-_*]/g, ''))
    .replace(STRETCHED, '$1$1');
}
