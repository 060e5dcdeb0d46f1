import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  decodeBooleans,
  decodeBytes,
  decodeFloats,
  decodeInts,
  encodeBooleans,
  encodeFloats,
  encodeInts,
  encodeStrings,
} from '../../../src/guard/tensors/raw.ts';

test('values come back', () => {
  const strings = fc.array(fc.string({ unit: 'grapheme' }));
  fc.assert(
    fc.property(
      strings,
      fc.array(fc.boolean()),
      fc.array(fc.float()),
      fc.array(fc.integer()),
      (texts, booleans, floats, integers) => {
        expect(decodeBytes(encodeStrings(texts))!.map(String)).toEqual(texts);
        expect(decodeBooleans(encodeBooleans(booleans))).toEqual(booleans);
        expect([...decodeFloats(encodeFloats(floats))!]).toEqual(floats);
        expect([...decodeInts(encodeInts(integers))!]).toEqual(integers);
      },
    ),
  );
});

test('any bytes decode or are refused, never more than is there', () => {
  fc.assert(
    fc.property(fc.uint8Array(), (bytes) => {
      const raw = Buffer.from(bytes);
      const strings = decodeBytes(raw);
      if (strings !== null) {
        expect(strings.reduce((sum, element) => sum + 4 + element.length, 0)).toBe(raw.length);
      }
      expect(decodeBooleans(raw) === null).toBe(bytes.some((byte) => byte > 1));
      expect(decodeFloats(raw) === null).toBe(raw.length % 4 !== 0);
      expect(decodeInts(raw) === null).toBe(raw.length % 4 !== 0);
    }),
  );
});
