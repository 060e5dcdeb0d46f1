import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textSpans } from '../../../src/moderate/windows/text-spans.ts';

const pieces = (text: string, maxBytes: number): string[] =>
  [...textSpans(text, maxBytes)].map(({ from, to }) => text.slice(from, to));

/** Texts of words, sentences, lines, scripts without spaces, and characters of several code points. */
const text = fc
  .array(
    fc.oneof(
      fc.constantFrom('word', 'a', ' ', '. ', '! ', '\n', '。', '語', '👩‍👩‍👧‍👦', 'é', '🇫🇷', '    ', '\ud800'),
      fc.string({ unit: 'binary', maxLength: 20 }),
    ),
    { maxLength: 400 },
  )
  .map((parts) => parts.join(''));

describe('windows of a text', () => {
  it('cover all of it that is no white space, overlap, fit, and never split a code point', () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 64, max: 600 }), (whole, maxBytes) => {
        const spans = [...textSpans(whole, maxBytes)];
        let end = 0;
        for (const [index, { from, to }] of spans.entries()) {
          expect(Buffer.byteLength(whole.slice(from, to))).toBeLessThanOrEqual(maxBytes);
          expect(to).toBeGreaterThan(end);
          if (index > 0) expect(from).toBeGreaterThan(spans[index - 1]!.from);
          expect(whole.slice(end, from).trim()).toBe('');
          for (const at of [from, to]) {
            const before = whole.charCodeAt(at - 1);
            const after = whole.charCodeAt(at);
            expect(before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff).toBe(false);
          }
          end = Math.max(end, to);
        }
        expect(whole.slice(end).trim()).toBe('');
      }),
    );
  });

  it('do not cut a character that people see as one', () => {
    const family = '👩‍👩‍👧‍👦';
    for (const piece of pieces(family.repeat(40), 100)) {
      expect(piece.endsWith(family)).toBe(true);
    }
  });
});
