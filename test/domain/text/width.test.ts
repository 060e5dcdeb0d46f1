import fc from 'fast-check';
import { expect, it } from 'vitest';
import { columnsIn, fitted, padded } from '../../../src/domain/text/width.ts';

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
  expect(columnsIn(text)).toBe(columns);
  expect(padded(text, 10).length).toBe(text.length + 10 - columns);
  expect(fitted(text, columns)).toBe(text);
});

it('a line that is cut fits, and ends with an ellipsis', () => {
  expect(fitted('漢字漢字', 6)).toBe('漢字…');
  expect(fitted('漢字漢字', 5)).toBe('漢字…');
  expect(fitted('漢字漢字', 4)).toBe('漢…');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(20), (text, columns) => {
      const shown = fitted(text, columns);
      expect(columnsIn(shown)).toBeLessThanOrEqual(columns);
      if (shown !== text) expect(shown.slice(0, -1)).toBe(text.slice(0, Math.max(0, shown.length - 1)));
    }),
  );
});
