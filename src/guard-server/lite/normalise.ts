/** Characters that show nothing (zero-width, soft hyphen, directional marks): put inside a word, they hide it. */
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu;

/** Cyrillic and Greek letters that look like a Latin one. */
const HOMOGLYPH = /[аеорсухіјѕһԁαορν]+/g;
const HOMOGLYPHS = 'аеорсухіјѕһԁαορν';
const HOMOGLYPH_LETTERS = 'aeopcyxijshdaopv';

/** Digits and signs between Latin letters, where they may stand for letters. */
const STAND_IN = /(?<=[a-z])[013457@$]{1,3}(?=[a-z])/g;
/** The rest of a word, and the beginning of a domain behind it. */
const REST_OF_WORD = /[a-z0-9-]*(\.[a-z])?/y;
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

/** Look-alikes beside a Latin letter become Latin; words of their own scripts stay. */
function replaceHomoglyphs(text: string): string {
  const isLatin = (at: number): boolean => text[at]! >= 'a' && text[at]! <= 'z';
  return text.replace(HOMOGLYPH, (run, offset: number) =>
    isLatin(offset - 1) || isLatin(offset + run.length)
      ? replaceEach(run, HOMOGLYPHS, HOMOGLYPH_LETTERS)
      : run,
  );
}

/** Digits and signs become letters, but not in an address: the rest of each word is looked through only once. */
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
 * Brings a text into the form its features are taken from: compatibility forms folded (NFKC: full-width letters,
 * ligatures, mathematical alphabets), lower case, and the common disguises of a word undone: invisible characters,
 * look-alike letters of other scripts, digits for letters, letters spelled out one by one or stretched. Time is
 * linear in the length.
 */
export function normalise(text: string): string {
  const visible = text.normalize('NFKC').toLowerCase().replace(INVISIBLE, '');
  return replaceStandIns(replaceHomoglyphs(visible))
    .replace(SPELLED_OUT, (run) => run.replace(/[ .\-_*]/g, ''))
    .replace(STRETCHED, '$1$1');
}
