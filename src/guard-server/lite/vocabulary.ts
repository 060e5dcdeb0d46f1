import { logarithm } from './elementary.ts';

/** Max length of the words that a run of letters is split into. */
const MAX_WORD = 20;
/** Cost of a letter outside every known word: higher than that of any short word. */
const UNKNOWN_LETTER = 14;

/** Min letters of words to recognise when misspelt; shorter words are too similar to each other. */
const MIN_CORRECTED = 4;
/** Number of the most frequent words to recognise when misspelt. */
const CORRECTED_WORDS = 4000;

const LETTERS = /[a-z]{3,}/g;
const LETTER_OR_DIGIT = /[\p{L}\p{M}\p{N}]/u;

/**
 * The words of the training texts, most frequent first. They determine where a word ends that is written in single
 * letters, and which word was meant if one letter is missing or two are swapped.
 */
export class Vocabulary {
  readonly words: readonly string[];
  readonly #ranks: Map<string, number>;
  /** Approximately normalises the probabilities of the ranks: the logarithm of their number. */
  readonly #size: number;
  /** Misspelt forms, each with the most frequent word that it can stand for. */
  readonly #misspelt = new Map<string, string>();

  constructor(words: readonly string[]) {
    this.words = words;
    this.#ranks = new Map(words.map((word, rank) => [word, rank]));
    this.#size = logarithm(words.length + 3);
    for (const word of words.slice(0, CORRECTED_WORDS)) {
      for (let at = 1; at < word.length - 1 && word.length >= MIN_CORRECTED; at++) {
        this.#addMisspelt(word.slice(0, at) + word.slice(at + 1), word);
        this.#addMisspelt(word.slice(0, at) + word[at + 1]! + word[at]! + word.slice(at + 2), word);
      }
    }
  }

  #addMisspelt(form: string, word: string): void {
    if (!this.#ranks.has(form) && !this.#misspelt.has(form)) this.#misspelt.set(form, word);
  }

  /** Separates the likeliest words of a run of lowercase Latin letters with spaces; other letters stay together. */
  separate(letters: string): string {
    const lowest = new Float64Array(letters.length + 1).fill(Infinity);
    const begins = new Int32Array(letters.length + 1);
    const known = new Uint8Array(letters.length + 1);
    lowest[0] = 0;
    for (let end = 1; end <= letters.length; end++) {
      lowest[end] = lowest[end - 1]! + UNKNOWN_LETTER;
      begins[end] = end - 1;
      for (let begin = Math.max(0, end - MAX_WORD); begin < end; begin++) {
        const rank = this.#ranks.get(letters.slice(begin, end));
        if (rank === undefined) continue;
        // Word frequencies fall with the rank (Zipf): the negative logarithm of the word's probability.
        const cost = lowest[begin]! + logarithm((rank + 1) * this.#size);
        if (cost >= lowest[end]!) continue;
        lowest[end] = cost;
        begins[end] = begin;
        known[end] = 1;
      }
    }
    const words: string[] = [];
    for (let end = letters.length; end > 0;) {
      let begin = begins[end]!;
      if (known[end] === 0) while (begin > 0 && known[begin] === 0) begin = begins[begin]!;
      words.push(letters.slice(begin, end));
      end = begin;
    }
    return words.reverse().join(' ');
  }

  /** Corrects misspelt words in lowercase Latin letters. */
  correct(text: string): string {
    if (this.#misspelt.size === 0) return text;
    return text.replace(LETTERS, (word, offset: number) => {
      const meant = this.#misspelt.get(word);
      if (meant === undefined) return word;
      const before = text[offset - 1] ?? '';
      const after = text[offset + word.length] ?? '';
      return LETTER_OR_DIGIT.test(before) || LETTER_OR_DIGIT.test(after) ? word : meant;
    });
  }
}

export const NO_WORDS = new Vocabulary([]);
