import { expect, test } from 'vitest';
import { escapeText, quoteName } from '../../../src/domain/text/escape-text.ts';

test.each([
  ['plain text, ümlauts and 漢字', 'plain text, ümlauts and 漢字'],
  ['\u001b[2J\u0007\r\n', '\\x1b[2J\\x07\\x0d\\x0a'],
  ['a\u202ecod.exe', 'a\\u{202e}cod.exe'],
  ['\u2028\u2029\u200b\ufeff', '\\u{2028}\\u{2029}\\u{200b}\\u{feff}'],
  ['\ud800', '\\u{d800}'],
  ['\u{e0041}', '\\u{e0041}'],
])('%j is shown as %j', (foreign, expected) => {
  expect(escapeText(foreign)).toBe(expected);
});

test('a long string is cut', () => {
  expect(escapeText('ab'.repeat(1000), 10)).toBe('ababababab…');
});

test.each([
  ['20261121T020000Z-nightly-ab12', '20261121T020000Z-nightly-ab12'],
  ['Judged 9 of 9 items', '"Judged 9 of 9 items"'],
  ['a"b\u001b', '"a\\"b\\x1b"'],
  ['', '""'],
])('as a name, %j is shown as %s', (foreign, expected) => {
  expect(quoteName(foreign)).toBe(expected);
});
