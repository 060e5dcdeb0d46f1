import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeBase64 } from '../../../src/guard-server/contract/contents.ts';

const decoded = (text: string): string | null =>
  decodeBase64(Buffer.from(text, 'latin1'))?.toString('latin1') ?? null;

it('gives back the bytes, padded or not (C-206)', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), (array) => {
      const bytes = Buffer.from(array);
      const text = bytes.toString('base64');
      expect(decodeBase64(Buffer.from(text))).toEqual(bytes);
      expect(decodeBase64(Buffer.from(text.replace(/=/g, '')))).toEqual(bytes);
    }),
  );
});

it.each(['!', 'a', 'YWJj!', 'YW Jj', 'YWJj\n', 'YW==YW==', 'YWI==', '_-8=', 'YWJjé', 'data:,YWJj', '='])(
  'refuses %j',
  (text) => {
    expect(decoded(text)).toBeNull();
  },
);

it('is quick with what is large', () => {
  const text = Buffer.alloc(16 * 1024 * 1024, 'YWJj');
  expect(decodeBase64(text)).toHaveLength(12 * 1024 * 1024);
});
