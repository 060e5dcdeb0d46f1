import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { chooseDecoder } from '../../src/formats/encoding/decoder.ts';
import { isMostlyNotUtf8 } from '../../src/formats/encoding/likely-encoding.ts';
import { pieceSizes } from './read-records.ts';

function decode(bytes: Buffer, encoding: string | null, sizes: readonly number[]): Buffer {
  const decoder = chooseDecoder(encoding, bytes);
  const pieces: Buffer[] = [];
  for (let at = 0, index = 0; at < bytes.length; index++) {
    const size = sizes[index % sizes.length]!;
    pieces.push(decoder.write(bytes.subarray(at, at + size)));
    at += size;
  }
  return Buffer.concat([...pieces, decoder.end()]);
}

describe('a decoder', () => {
  test('gives any text back from UTF-16 and UTF-8 with a byte order mark, however it comes in pieces', () => {
    const text = fc.string({ unit: 'grapheme' });
    const encode = fc.constantFrom(
      (value: string) => Buffer.from(`\ufeff${value}`),
      (value: string) => Buffer.from(`\ufeff${value}`, 'utf16le'),
      (value: string) => Buffer.from(`\ufeff${value}`, 'utf16le').swap16(),
    );
    fc.assert(
      fc.property(text, encode, pieceSizes, (value, bytesOf, sizes) => {
        expect(decode(bytesOf(value), null, sizes).toString()).toBe(value);
      }),
    );
  });

  test('of UTF-16 marks what it cannot decode, and nothing else', () => {
    const units = fc.array(fc.constantFrom(0x41, 0xe9, 0xfffd, 0xd83d, 0xde00), { maxLength: 20 });
    fc.assert(
      fc.property(units, pieceSizes, (values, sizes) => {
        const text = String.fromCharCode(...values);
        const decoded = decode(Buffer.from(`\ufeff${text}`, 'utf16le'), null, sizes);
        expect(isUtf8(decoded)).toBe(!/\p{Surrogate}/u.test(text));
        expect(decoded.toString()).toBe(text.replace(/\p{Surrogate}/gu, '\ufffd'));
      }),
    );
  });

  test('of an encoding by name marks what it cannot decode', () => {
    const bytes = Buffer.of(0x41, 0x93, 0xfa, 0x96, 0x7b, 0xff, 0x42);
    const expected = Buffer.concat([Buffer.from('A日本'), Buffer.of(0xff), Buffer.from('B')]);
    for (const size of [1, 2, 100]) expect(decode(bytes, 'shift_jis', [size])).toEqual(expected);
  });

  test('knows the quotes and dashes of windows-1252, by all its labels', () => {
    const bytes = Buffer.of(0x93, 0xe9, 0x94, 0x96, 0x80);
    for (const label of ['windows-1252', 'iso-8859-1', 'latin1']) {
      expect(decode(bytes, label, [2]).toString()).toBe('“é”–€');
    }
  });

  test('refuses a name that is no encoding', () => {
    expect(() => chooseDecoder('klingon', Buffer.alloc(0))).toThrow(RangeError);
  });
});

describe('mostly not UTF-8', () => {
  const latin = (text: string) => Buffer.from(text, 'latin1');
  test.each([
    ['sound text', Buffer.from('naïve\ncafé\n'), false],
    ['one bad line of three', Buffer.concat([latin('café\n'), Buffer.from('plain\nplain\n')]), false],
    ['two bad lines of three', Buffer.concat([latin('café\nnaïve\n'), Buffer.from('plain\n')]), true],
    ['nothing', Buffer.alloc(0), false],
  ])('%s: %#', (_name, bytes, expected) => {
    expect(isMostlyNotUtf8(bytes, true)).toBe(expected);
  });

  test('a head that ends inside a character says nothing of it', () => {
    expect(isMostlyNotUtf8(Buffer.from('é').subarray(0, 1), false)).toBe(false);
  });
});
