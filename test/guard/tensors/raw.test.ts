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

test('strings come back as their UTF-8', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), (values) => {
      const decoded = decodeBytes(encodeStrings(values))!;
      expect(decoded.map((bytes) => bytes.toString())).toEqual(
        values.map((value) => Buffer.from(value).toString()),
      );
    }),
  );
});

test('booleans, floats and integers come back', () => {
  fc.assert(
    fc.property(
      fc.array(fc.boolean()),
      fc.array(fc.float()),
      fc.array(fc.integer()),
      (booleans, floats, integers) => {
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
