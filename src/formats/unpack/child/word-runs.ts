import { isAscii } from 'node:buffer';

/** This many words in a row are a sentence, and neither code nor a technical field. */
export const SENTENCE = 4;

/** The most words in a row. Scripts that have no spaces between words count by characters. */
export function longestRun(text: string): number {
  let longest = 0;
  let run = 0;
  for (const word of text.split(/[\s,]+/)) {
    if (!/^["'(]?\p{L}+(?:['’]\p{L}+)*["').!?:;]*$/u.test(word)) run = 0;
    else longest = Math.max(longest, (run += isAscii(Buffer.from(word)) ? 1 : word.length));
  }
  return longest;
}

/** Ends of strings in code; an apostrophe in a word is none. */
const QUOTES = /["`\n]|(?<!\p{L})'|'(?!\p{L})/u;

/** The sentences in the strings and comments of a script or a style sheet. */
export function sentencesIn(code: string): string[] {
  return code.split(QUOTES).filter((piece) => longestRun(piece) >= SENTENCE);
}
