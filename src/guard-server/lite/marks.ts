const BEYOND_ASCII = /[^\0-\x7f]/;

/** A Latin letter with marks, once decomposed. */
const MARKED = /([a-z])\p{M}+/gu;

/** Latin letters that do not decompose. */
const STROKED = /[øłđħŧıßæœ]/g;
const STROKED_LETTERS: Readonly<Record<string, string>> = {
  ...{ ø: 'o', ł: 'l', đ: 'd', ħ: 'h', ŧ: 't', ı: 'i' },
  ...{ ß: 'ss', æ: 'ae', œ: 'oe' },
};

const LATIN_WORD = /\p{Script=Latin}+/gu;
/** Vietnamese letters that other languages in Latin script hardly use. */
const VIETNAMESE_LETTER = /[ăđơưạ-ỹ]/;
/** A Vietnamese syllable without its marks; every word is one. */
const VIETNAMESE_SYLLABLE =
  /^(?:ngh?|nh|ch|gh|gi|kh|ph|qu|th|tr|[bcdghklmnprstvx])?[aeiouy]{1,3}(?:ch|ng|nh|[cmnpt])?$/;
/** Min fractions of words with such a letter, and of words that are such a syllable. */
const MIN_LETTER_SHARE = 0.2;
const MIN_SYLLABLE_SHARE = 0.75;

function stripped(text: string): string {
  return text
    .normalize('NFD')
    .replace(MARKED, '$1')
    .normalize('NFC')
    .replace(STROKED, (letter) => STROKED_LETTERS[letter]!);
}

function isVietnamese(text: string): boolean {
  if (!VIETNAMESE_LETTER.test(text)) return false;
  let [words, marked, syllables] = [0, 0, 0];
  for (const [word] of text.matchAll(LATIN_WORD)) {
    words++;
    if (VIETNAMESE_LETTER.test(word)) marked++;
    if (VIETNAMESE_SYLLABLE.test(stripped(word))) syllables++;
  }
  return marked >= MIN_LETTER_SHARE * words && syllables >= MIN_SYLLABLE_SHARE * words;
}

/** Marks that compose with no letter: strokes through it, and stacks of accents. */
const LOOSE_MARKS = /(?<=\p{Script=Latin})\p{M}+/gu;

/**
 * Removes the marks on Latin letters from text in NFKC: they disguise words, and most languages can be read without
 * them. Vietnamese cannot, and keeps the marks of its own letters. Other scripts are unchanged.
 */
export function withoutMarks(text: string): string {
  if (!BEYOND_ASCII.test(text)) return text;
  return isVietnamese(text) ? text.replace(LOOSE_MARKS, '') : stripped(text);
}
