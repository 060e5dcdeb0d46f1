import fc from 'fast-check';
import { expect, it } from 'vitest';
import { graphemeBoundary } from '../../../src/domain/text/characters.ts';

const PIECES = ['a', 'é', 'e\u0301', '\r', '\n', '\r\n', '\u200d', '🧪', '👩‍👩‍👧', '👍🏽', '한', 'ᄒ', '\u0600'];

it('is the boundary that segmenting the whole text finds, of a text it sees in full', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 4 }),
      fc.nat(),
      (pieces, at) => {
        const text = pieces.join('');
        const limits = [...text]
          .reduce((ends, point) => [...ends, ends.at(-1)! + point.length], [0])
          .slice(1, -1);
        if (limits.length === 0) return;
        const limit = limits[at % limits.length]!;
        const boundaries = [...new Intl.Segmenter().segment(text)].map(({ index }) => index);
        const wanted = boundaries.filter((index) => index > 0 && index <= limit).at(-1) ?? limit;
        expect(graphemeBoundary(text, 0, limit)).toBe(wanted);
      },
    ),
  );
});

it('is the limit inside a grapheme that is longer than what is looked at', () => {
  const text = `a${'\u0301'.repeat(100)}`;
  expect(graphemeBoundary(text, 0, 80)).toBe(80);
});
