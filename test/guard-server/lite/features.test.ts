import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { characterClasses } from '../../../src/guard-server/lite/character-classes.ts';
import { BUCKETS, FeatureExtractor } from '../../../src/guard-server/lite/features.ts';
import { normalise } from '../../../src/guard-server/lite/normalise.ts';
import { MAX_PIECE_UNITS, piecesOf } from '../../../src/guard-server/lite/pieces.ts';
import { Vocabulary } from '../../../src/guard-server/lite/vocabulary.ts';

const extractor = new FeatureExtractor();
const classes = characterClasses();

function features(text: string): number[][] {
  const pieces: number[][] = [];
  extractor.forEachPiece(text, (buckets) => pieces.push([...buckets]));
  return pieces;
}

const anyText = fc.string({ unit: 'binary', maxLength: 4000 });
const longText = fc
  .array(fc.constantFrom('word ', 'sentence. ', '文。', '\n', 'x'.repeat(300), '🙂', ' '), { maxLength: 400 })
  .map((pieces) => pieces.join(''));

describe('features', () => {
  it('are distinct buckets within each piece, and the same every time', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, longText), (text) => {
        const first = features(text);
        expect(first.length).toBeGreaterThan(0);
        for (const buckets of first) {
          expect(new Set(buckets).size).toBe(buckets.length);
          for (const bucket of buckets) {
            if (!(Number.isInteger(bucket) && bucket >= 0 && bucket < BUCKETS)) expect.unreachable();
          }
        }
        expect(features(text)).toEqual(first);
      }),
      { numRuns: 60 },
    );
  });

  it.each([
    ['full-width letters', 'ｓｅｃｒｅｔ plan', 'secret plan'],
    ['capitals', 'SECRET Plan', 'secret plan'],
    ['zero-width characters', 'se\u200bcr\u00adet plan', 'secret plan'],
    ['Cyrillic look-alikes', 'sесrеt plan', 'secret plan'],
    ['digits for letters', 's3cr3t pl4n', 'secret plan'],
    ['letters spelled out', 's e c r e t: p.l.a.n', 'secret: plan'],
    ['accents', 'sécrèt plãn', 'secret plan'],
    ['strokes', 's\u0336e\u0336c\u0336r\u0336e\u0336t\u0336 plan', 'secret plan'],
    ['digits at the edges of words', '53cr3t pl4n5 70 b0mb', 'secret plans to bomb'],
    ['stretched letters', 'secreeeeet plaaan', 'secreet plaan'],
  ])('see through %s', (_, disguised, plain) => {
    expect(normalise(disguised)).toBe(plain);
    expect(features(disguised)).toEqual(features(plain));
  });
});

it('pieces make up the text in order, none empty, none longer than a sentence may be', () => {
  fc.assert(
    fc.property(fc.oneof(anyText, longText), (text) => {
      const pieces = [...piecesOf(text, classes)];
      expect(pieces.map(({ from, to }) => text.slice(from, to)).join('')).toBe(text);
      if (text.length <= MAX_PIECE_UNITS) expect(pieces).toHaveLength(1);
      else expect(pieces.every(({ from, to }) => to > from && to - from <= MAX_PIECE_UNITS)).toBe(true);
    }),
    { numRuns: 200 },
  );
});

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
});
