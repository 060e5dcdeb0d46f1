import { expect, it } from 'vitest';
import { maskText, visibleText } from '../../../web/dashboard/item/visible-text.ts';

it.each([
  ['a change of direction', 'a\u202eb', 'a[U+202E]b'],
  ['a zero-width space', 'a\u200bb', 'a[U+200B]b'],
  ['a control character', 'a\u0007b\u009bc', 'a[U+0007]b[U+009B]c'],
  ['a carriage return within a line', 'a\rb', 'a[U+000D]b'],
  ['tag characters', 'a\u{e0041}b', 'a[U+E0041]b'],
])('writes out %s', (_, text, shown) => {
  expect(visibleText(text)).toBe(shown);
});

it('leaves lines, tabs, other scripts and joined emoji as they are', () => {
  const text = 'one\ttwo\nשלום नमस्ते\u200c👩‍👩‍👧';
  expect(visibleText(text)).toBe(text);
  expect(visibleText('one\r\ntwo')).toBe('one\ntwo');
});

it('masks letters, digits and emoji, and leaves the shape', () => {
  expect(maskText('He said: "42 é", 😀!')).toBe('•• ••••: "•• •", •!');
});
