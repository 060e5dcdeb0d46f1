import type { Random } from './random.ts';

/** A way to write a text so that people still read it, and a filter does not. */
interface Disguise {
  readonly title: string;
  readonly apply: (text: string, random: Random) => string;
}

const ACCENTED: Readonly<Record<string, string>> = {
  a: 'áàâäã',
  e: 'éèêë',
  i: 'íìîï',
  o: 'óòôöõ',
  u: 'úùûü',
};
const LEET: Readonly<Record<string, string>> = { a: '4', e: '3', i: '1', o: '0', s: '5', t: '7' };

const COMBINING_STROKE = '\u0336';
const WORD = /\p{L}+/gu;

/** Words shorter than this keep their letters in order: nobody can read them otherwise. */
const MIN_MISSPELT = 4;
/** Share of the other words that are misspelt. */
const MISSPELT_SHARE = 0.5;

const pick = (letters: string, random: Random): string => letters[Math.floor(random() * letters.length)]!;

function byLetter(letters: Readonly<Record<string, string>>): Disguise['apply'] {
  return (text, random) =>
    text.replace(/[a-z]/gi, (letter) => {
      const others = letters[letter.toLowerCase()];
      return others === undefined ? letter : pick(others, random);
    });
}

/** Misspells words at a letter that is neither the first nor the last but one. */
function misspelt(change: (word: string, at: number) => string): Disguise['apply'] {
  return (text, random) =>
    text.replace(WORD, (word) => {
      if (word.length < MIN_MISSPELT || random() >= MISSPELT_SHARE) return word;
      return change(word, 1 + Math.floor(random() * (word.length - 2)));
    });
}

const spelledOut =
  (between: string): Disguise['apply'] =>
  (text) =>
    text.replace(WORD, (word) => [...word].join(between));

/** s p a c e d, by one space between letters as between words. */
export const spaceLetters = spelledOut(' ');
/** drped. */
export const dropLetters = misspelt((word, at) => word.slice(0, at) + word.slice(at + 1));
/** sawpped. */
export const swapLetters = misspelt(
  (word, at) => word.slice(0, at) + word[at + 1]! + word[at]! + word.slice(at + 2),
);

export const DISGUISES: readonly Disguise[] = [
  { title: 'accented vowels', apply: byLetter(ACCENTED) },
  {
    title: 'combining strokes',
    apply: (text) => text.replace(/\p{L}/gu, (letter) => letter + COMBINING_STROKE),
  },
  { title: 'digits for letters', apply: byLetter(LEET) },
  { title: 'dotted letters', apply: spelledOut('.') },
  {
    title: 'spaced letters, words further apart',
    apply: (text, random) => spaceLetters(text.replace(/\s+/g, '   '), random),
  },
  { title: 'spaced letters', apply: spaceLetters },
  { title: 'a letter dropped in every other word', apply: dropLetters },
  { title: 'two letters swapped in every other word', apply: swapLetters },
];
