import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isEncodedPath, encodePath, decodePath } from '../../src/domain/file-path.ts';

describe('the recorded form of paths', () => {
  test.each([
    ['plain/name é.txt', Buffer.from('plain/name é.txt')],
    ['caf\\xe9.txt', Buffer.from('caf\xe9.txt', 'latin1')],
    ['\\x5cxe9.txt', Buffer.from('\\xe9.txt')],
    ['\\x5cx5c', Buffer.from('\\x5c')],
    ['\\xed\\xa0\\x80', Buffer.of(0xed, 0xa0, 0x80)],
  ])('%j stands for %j', (recorded, bytes) => {
    expect(encodePath(bytes)).toBe(recorded);
    expect(Buffer.from(decodePath(recorded))).toEqual(bytes);
  });

  test('round-trips for any bytes, and a form hides nothing', () => {
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
      fc.string({ unit: 'binary', maxLength: 4 }).map((text) => Buffer.from(text)),
      fc.constantFrom('\\', '\\x', 'x', '\\x5c', '4', 'f', '/').map((text) => Buffer.from(text)),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const path = Buffer.concat(pieces);
        const recorded = encodePath(path);
        expect(Buffer.from(decodePath(recorded))).toEqual(path);
        expect(isEncodedPath(recorded)).toBe(true);
        expect(JSON.parse(JSON.stringify(recorded))).toBe(recorded);
        // Separators are where they were.
        const names = path.toString('latin1').split('/');
        expect(recorded.split('/')).toEqual(names.map((name) => encodePath(Buffer.from(name, 'latin1'))));
      }),
      { numRuns: 2000 },
    );
  });

  const FORM_OF_NONE = ['\\x2e\\x2e/secret', 'a\\x2fb', '\\x00', '\\x41', '\\xc3\\xa9'];
  test.each(FORM_OF_NONE)('%j is the form of no path', (path) => expect(isEncodedPath(path)).toBe(false));
});
