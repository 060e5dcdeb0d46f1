import fc from 'fast-check';
import { expect, it } from 'vitest';
import { displayWidth, padToWidth, truncateToWidth } from '../../../src/domain/text/characters.ts';

it.each([
  ['abc', 3],
  ['Ko\u0308ln', 4],
  ['漢字', 4],
  ['a😀b', 4],
])('%s takes %d columns', (text, columns) => {
  expect(displayWidth(text)).toBe(columns);
  expect(padToWidth(text, 10).length).toBe(text.length + 10 - columns);
  expect(truncateToWidth(text, columns)).toBe(text);
});

it('a line that is cut fits, and ends with an ellipsis', () => {
  expect(truncateToWidth('漢字漢字', 6)).toBe('漢字…');
  expect(truncateToWidth('漢字漢字', 4)).toBe('漢…');
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(20), (text, columns) => {
      const shown = truncateToWidth(text, columns);
      expect(displayWidth(shown)).toBeLessThanOrEqual(columns);
      if (shown !== text) expect(shown.slice(0, -1)).toBe(text.slice(0, Math.max(0, shown.length - 1)));
    }),
  );
});
