import { DIGIT, SEPARATOR, SYLLABLE, UNSPACED, characterClasses } from './character-classes.ts';
import { normalise } from './normalise.ts';
import { piecesOf } from './pieces.ts';
import { NO_WORDS, type Vocabulary } from './vocabulary.ts';

/** Number of buckets that features are hashed into; a power of two. */
export const BUCKETS = 1 << 17;

/** Min and max length of character n-grams: of spaced words with their edges, of unspaced runs, of Hangul words. */
const WORD_NGRAMS = [3, 5] as const;
const UNSPACED_NGRAMS = [1, 3] as const;
const HANGUL_NGRAMS = [1, 3] as const;

/** Seeds that separate kinds of features; any distinct odd constants will do. */
const WORD_SEED = 0x811c9dc5;
const NUMBER_SEED = 0x2545f491;
const NGRAM_SEED = 0x165667b1;
const UNSPACED_SEED = 0x9e3779b1;
const LETTER_FACTOR = 0x7feb352d;
const PAIR_FACTOR = 0x2c1b3c6d;
const SKIP_PAIR_FACTOR = 0x297a2d39;
const QUESTION = 0x0001_2f85;
const EXCLAMATION = 0x0001_2f86;
const LINE_BREAK = 0x0001_2f87;
/** Stands for the word before the first one, and before an unspaced run. */
const NO_WORD = 1;
const UNSPACED_RUN = 2;
/** Stands for the character beyond a word's edge in its n-grams. */
const EDGE = 0x5f;

const FNV_PRIME = 0x01000193;

/** Leaves the top 17 bits of the mixed hash; the mixer is Chris Wellons' lowbias32 (public domain). */
const BUCKET_SHIFT = 15;
function bucketOf(hash: number): number {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x7feb352d);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, 0x846ca68b);
  mixed ^= mixed >>> 16;
  return mixed >>> BUCKET_SHIFT;
}

/**
 * Turns text into sets of hashed features: words, pairs of adjacent words, pairs with one word in between, and
 * character n-grams within words, or within runs of unspaced scripts. Keeps scratch memory of fixed size between calls;
 * not safe to share between threads.
 */
export class FeatureExtractor {
  readonly #classes = characterClasses();
  readonly #seenIn = new Int32Array(BUCKETS);
  readonly #buckets = new Int32Array(BUCKETS);
  readonly #vocabulary: Vocabulary;
  #piece = 0;
  #count = 0;

  constructor(vocabulary: Vocabulary = NO_WORDS) {
    this.#vocabulary = vocabulary;
  }

  /**
   * Calls `visit` for each piece of a text in order, with the distinct buckets of its features, in order of first
   * appearance. The array is only valid during the call.
   */
  forEachPiece(text: string, visit: (buckets: Int32Array) => void): void {
    const normal = normalise(text, this.#vocabulary);
    for (const { from, to } of piecesOf(normal, this.#classes)) visit(this.#extract(normal, from, to));
  }

  #add(hash: number): void {
    const bucket = bucketOf(hash);
    if (this.#seenIn[bucket] === this.#piece) return;
    this.#seenIn[bucket] = this.#piece;
    this.#buckets[this.#count++] = bucket;
  }

  #beginPiece(): void {
    this.#count = 0;
    this.#piece = (this.#piece + 1) | 0;
    if (this.#piece === 0) {
      this.#seenIn.fill(0);
      this.#piece = 1;
    }
  }

  #extract(text: string, from: number, to: number): Int32Array {
    this.#beginPiece();
    let previous = NO_WORD;
    let beforePrevious = NO_WORD;
    for (let start = from; start < to;) {
      const unit = text.charCodeAt(start);
      const kind = this.#classes[unit]!;
      if (kind === SEPARATOR) {
        if (unit === 0x3f) this.#add(QUESTION);
        else if (unit === 0x21) this.#add(EXCLAMATION);
        else if (unit === 0x0a) this.#add(LINE_BREAK);
        start++;
        continue;
      }
      const end = this.#runEnd(text, start, to, kind === UNSPACED);
      let word = UNSPACED_RUN;
      if (kind === UNSPACED) {
        this.#addNgrams(text, start, end, UNSPACED_SEED, UNSPACED_NGRAMS, false);
      } else {
        word = this.#addWord(text, start, end);
        this.#add(Math.imul(previous, PAIR_FACTOR) ^ word);
        this.#add(Math.imul(beforePrevious, SKIP_PAIR_FACTOR) ^ word);
      }
      beforePrevious = previous;
      previous = word;
      start = end;
    }
    return this.#buckets.subarray(0, this.#count);
  }

  #runEnd(text: string, start: number, to: number, unspaced: boolean): number {
    let end = start + 1;
    while (end < to) {
      const kind = this.#classes[text.charCodeAt(end)]!;
      if (kind === SEPARATOR || (kind === UNSPACED) !== unspaced) break;
      end++;
    }
    return end;
  }

  /**
   * Adds a word and its n-grams, and returns its hash, which ignores the order of all letters but the first: swapped
   * letters do not hide a word. A number is hashed only by its digit count.
   */
  #addWord(text: string, start: number, end: number): number {
    const first = text.charCodeAt(start);
    let letters = this.#classes[first] !== DIGIT;
    let sum = 0;
    for (let at = start + 1; at < end; at++) {
      const unit = text.charCodeAt(at);
      if (this.#classes[unit] !== DIGIT) letters = true;
      const mixed = Math.imul(unit ^ WORD_SEED, LETTER_FACTOR);
      sum = (sum + (mixed ^ (mixed >>> 15))) | 0;
    }
    let hash = Math.imul(first ^ WORD_SEED, FNV_PRIME) ^ Math.imul(sum, FNV_PRIME);
    if (!letters) hash = Math.imul(NUMBER_SEED ^ (end - start), FNV_PRIME);
    this.#add(hash);
    if (letters) {
      const lengths = this.#classes[first] === SYLLABLE ? HANGUL_NGRAMS : WORD_NGRAMS;
      this.#addNgrams(text, start, end, NGRAM_SEED, lengths, true);
    }
    return hash;
  }

  #addNgrams(
    text: string,
    start: number,
    end: number,
    seed: number,
    [shortest, longest]: readonly [number, number],
    edges: boolean,
  ): void {
    const first = edges ? start - 1 : start;
    const last = edges ? end + 1 : end;
    for (let from = first; from < last; from++) {
      let hash = seed;
      const to = Math.min(last, from + longest);
      for (let at = from; at < to; at++) {
        const unit = at < start || at >= end ? EDGE : text.charCodeAt(at);
        hash = Math.imul(hash ^ unit, FNV_PRIME);
        const length = at - from + 1;
        if (length >= shortest) this.#add(hash ^ length);
      }
    }
  }
}
