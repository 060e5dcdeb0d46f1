import { describe, expect, it } from 'vitest';
import { normalise } from '../../../src/guard-server/lite/normalise.ts';
import { Vocabulary } from '../../../src/guard-server/lite/vocabulary.ts';
import { expectLinear } from '../../helpers/linear.ts';

it.each(['с', 'a1-', 'a ', '\u200b', 'a\u0336', 'ệa', 'b1b '])(
  'the form that features are taken from takes linear time over %j',
  (part) => {
    expectLinear((length) => part.repeat(length / part.length), normalise);
  },
);

describe('with a vocabulary', () => {
  const vocabulary = new Vocabulary('i will to you find the plan secret plane form from'.split(' '));

  it.each([
    ['words written in single letters are told apart', 'I w i l l f i n d y o u', 'i will find you'],
    ['letters that make no word stay together', 'z z q x v b', 'zzqxvb'],
    ['and do not hide the words beside them', 'f i n d z q x v y o u', 'find zqxv you'],
    ['two letters by themselves are not a word', 'plan a b', 'plan a b'],
    ['a missing letter is put back', 'fnd the secrt pln', 'find the secret plan'],
    ['swapped letters are put right', 'fidn the sercet', 'find the secret'],
    ['a word that exists is not changed', 'a form from the planet', 'a form from the planet'],
    ['nor are parts of other words', 'fnd7 7pln plnи 日pln', 'fnd7 7pln plnи 日pln'],
  ])('%s', (_, text, normal) => expect(normalise(text, vocabulary)).toBe(normal));

  it.each(['ab c ', 'pln ', 'f i n d '])('takes linear time over %j', (part) => {
    expectLinear(
      (length) => part.repeat(length / part.length),
      (text) => normalise(text, vocabulary),
    );
  });
});
