import { withoutMarks } from './marks.ts';
import { NO_WORDS, type Vocabulary } from './vocabulary.ts';

/** Invisible characters (zero-width, soft hyphen, directional marks), which can be used to break up a word. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** Cyrillic and Greek letters that look like a Latin one. */
const HOMOGLYPH = /[аеорсухіјѕһԁαορν]+/g;
const HOMOGLYPHS = 'аеорсухіјѕһԁαορν';
const HOMOGLYPH_LETTERS = 'aeopcyxijshdaopv';

/** Matches single Latin letters separated by signs, and three or more separated by single spaces. */
// Both take linear time: they backtrack by one letter at most, and continue after their match.
const SIGNED_OUT = /(?<![\p{L}\p{N}])[a-z](?:[.\-_*·|][a-z])+(?![\p{L}\p{N}])/gu;
const SPACED_OUT = /(?<![\p{L}\p{N}])[a-z](?: [a-z]){2,}(?![\p{L}\p{N}])/gu;
/** Two Latin letters with one space between them. */
const SPACED_PAIR = /(?<![\p{L}\p{N}])[a-z] [a-z](?![\p{L}\p{N}])/gu;
/** From this number of spaced-out words, two spaced letters count as one too. */
const SPACED_WORDS = 2;
const BETWEEN_LETTERS = /[ .\-_*·|]/g;

const CHUNK = /\S+/g;
/** Matches a web or mail address, where digits and signs are literal. */
const ADDRESS = /[a-z0-9]\.[a-z]{2}|:\/\//;
/** Digits and signs that may replace letters, between two Latin letters. */
const STAND_IN_INSIDE = /[a-z][013457@$!]{1,3}[a-z]/;
/** Stand-ins anywhere in a word; a sign at its end is punctuation. */
const STAND_IN = /[013457@$]|!(?=[a-z0-9])/g;
const STAND_INS = '013457@$!';
const STAND_IN_LETTERS = 'oieastasi';
/** From this number of words with stand-ins inside, stand-ins are replaced in all words of a text: "t0", "4". */
const LEET_WORDS = 2;

/** A Latin letter three or more times in a row, which no language of the corpus uses. */
// Linear time: after a match it continues behind it, and otherwise fails at the third character.
const STRETCHED = /([a-z])\1{2,}/g;

function replaceEach(run: string, from: string, to: string): string {
  let result = '';
  for (const character of run) result += to[from.indexOf(character)]!;
  return result;
}

/** Replaces look-alikes next to a Latin letter with Latin letters; words in other scripts are unchanged. */
function replaceHomoglyphs(text: string): string {
  const isLatin = (at: number): boolean => text[at]! >= 'a' && text[at]! <= 'z';
  return text.replace(HOMOGLYPH, (run, offset: number) =>
    isLatin(offset - 1) || isLatin(offset + run.length)
      ? replaceEach(run, HOMOGLYPHS, HOMOGLYPH_LETTERS)
      : run,
  );
}

/** Replaces digits and signs with letters in words that have them between letters, except in addresses. */
function replaceStandIns(text: string): string {
  let leetWords = 0;
  for (const [chunk] of text.matchAll(CHUNK)) {
    if (STAND_IN_INSIDE.test(chunk) && !ADDRESS.test(chunk)) leetWords++;
  }
  if (leetWords === 0) return text;
  return text.replace(CHUNK, (chunk) =>
    (leetWords >= LEET_WORDS || STAND_IN_INSIDE.test(chunk)) && !ADDRESS.test(chunk)
      ? chunk.replace(STAND_IN, (sign) => replaceEach(sign, STAND_INS, STAND_IN_LETTERS))
      : chunk,
  );
}

const joinLetters = (run: string): string => run.replace(BETWEEN_LETTERS, '');

/**
 * Joins letters that are written apart. If all words of a run are, and no wider space separates them, the vocabulary
 * determines the words; two letters form a word only if other words are spaced out too.
 */
function joinSpacedOut(text: string, vocabulary: Vocabulary): string {
  let runs = 0;
  const joined = text.replace(SPACED_OUT, (run) => {
    runs++;
    return vocabulary.separate(joinLetters(run));
  });
  return runs >= SPACED_WORDS ? joined.replace(SPACED_PAIR, joinLetters) : joined;
}

/**
 * Normalises a text for feature extraction: NFKC (full-width letters, ligatures, mathematical alphabets), lower case,
 * and common disguises undone: invisible characters, look-alike letters of other scripts, marks on Latin letters,
 * spelled-out words, digits for letters, stretched words, and misspelt words of the vocabulary. Time is linear in the
 * length.
 */
export function normalise(text: string, vocabulary: Vocabulary = NO_WORDS): string {
  const visible = text.normalize('NFKC').toLowerCase().replace(INVISIBLE, '');
  const joined = withoutMarks(replaceHomoglyphs(visible)).replace(SIGNED_OUT, joinLetters);
  const read = replaceStandIns(joinSpacedOut(joined, vocabulary)).replace(STRETCHED, '$1$1');
  return vocabulary.correct(read);
}
