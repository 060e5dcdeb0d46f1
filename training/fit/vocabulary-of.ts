import { normalise } from '../../src/guard-server/lite/normalise.ts';
import { Vocabulary } from '../../src/guard-server/lite/vocabulary.ts';
import type { LabelledText } from '../corpora/corpus.ts';

/** Words of fewer texts may be misspelt themselves. */
const MIN_TEXTS = 4;

/** A run of letters and digits; the words of the vocabulary are of small Latin letters alone. */
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
const LATIN_WORD = /^[a-z]+$/;
/** Single letters that are words. */
const LETTER_WORDS = ['a', 'i', 'u'];

/** The vocabulary of some texts, most frequent words first. */
export function vocabularyOf(rows: readonly LabelledText[]): Vocabulary {
  const counts = new Map<string, number>();
  for (const { text } of rows) {
    const words = new Set(normalise(text).match(WORD) ?? []);
    for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const words = [...counts].filter(
    ([word, count]) =>
      count >= MIN_TEXTS && LATIN_WORD.test(word) && (word.length > 1 || LETTER_WORDS.includes(word)),
  );
  // Words of the same count in alphabetical order: the same vocabulary whatever the order of the texts.
  words.sort(([a, ofA], [b, ofB]) => ofB - ofA || (a < b ? -1 : 1));
  return new Vocabulary(words.map(([word]) => word));
}
