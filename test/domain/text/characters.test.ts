import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  displayWidth,
  graphemeBoundary,
  padToWidth,
  truncateToWidth,
} from '../../../src/domain/text/characters.ts';

it.each([
  ['abc', 3],
  ['Köln', 4],
  ['Ko\u0308ln', 4],
  ['漢字', 4],
  ['한국어', 6],
  ['ｆｕｌｌ', 8],
  ['a😀b', 4],
  ['𠀀', 2],
  ['', 0],
])('%s takes %d columns', (text, columns) => {
  expect(displayWidth(text)).toBe(columns);
  expect(padToWidth(text, 10).length).toBe(text.length + 10 - columns);
  expect(truncateToWidth(text, columns)).toBe(text);
});

it('a line that is cut fits, and ends with an ellipsis', () => {
  expect(truncateToWidth('漢字漢字', 6)).toBe('漢字…');
  expect(truncateToWidth('漢字漢字', 5)).toBe('漢字…');
  expect(truncateToWidth('漢字漢字', 4)).toBe('漢…');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(20), (text, columns) => {
      const shown = truncateToWidth(text, columns);
      expect(displayWidth(shown)).toBeLessThanOrEqual(columns);
      if (shown !== text) expect(shown.slice(0, -1)).toBe(text.slice(0, Math.max(0, shown.length - 1)));
    }),
  );
});

const PIECES = ['a', 'é', 'e\u0301', '\r', '\n', '\r\n', '\u200d', '🧪', '👩‍👩‍👧', '👍🏽', '한', 'ᄒ', '\u0600'];

it('a grapheme boundary is the one that segmenting the whole text finds, of a text it sees in full', () => {
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

it('a grapheme boundary is the limit inside a grapheme that is longer than what is looked at', () => {
  const text = `a${'\u0301'.repeat(100)}`;
  expect(graphemeBoundary(text, 0, 80)).toBe(80);
});
