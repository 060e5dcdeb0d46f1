import { isAscii } from 'node:buffer';

/** Number of words in a row that make a sentence, as opposed to code or a technical field. */
export const SENTENCE = 4;

/** The longest run of words. Scripts without spaces between words count by character. */
export function longestRun(text: string): number {
  let longest = 0;
  let run = 0;
  for (const word of text.split(/[\s,]+/)) {
    if (!/^["'(]?\p{L}+(?:['’]\p{L}+)*["').!?:;]*$/u.test(word)) run = 0;
    else longest = Math.max(longest, (run += isAscii(Buffer.from(word)) ? 1 : word.length));
  }
  return longest;
}

/** Ends of strings in code; does not match an apostrophe in a word. */
const QUOTES = /["`\n]|(?<!\p{L})'|'(?!\p{L})/u;

/** The sentences in the strings and comments of a script or a style sheet. */
export function sentencesIn(code: string): string[] {
  return code.split(QUOTES).filter((piece) => longestRun(piece) >= SENTENCE);
}
