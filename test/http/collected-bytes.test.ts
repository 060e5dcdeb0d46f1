import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CollectedBytes } from '../../src/http/collected-bytes.ts';

it('joins any pieces in their order', () => {
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.integer({ min: 0, max: 200_000 }).map((size) => new Uint8Array(size).fill(size)),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const collected = new CollectedBytes();
      const expected = Buffer.concat(pieces);
      for (const given of pieces) collected.add(Buffer.from(given));
      expect(collected.length).toBe(expected.length);
      expect(collected.joined().equals(expected)).toBe(true);
    }),
    { numRuns: 50 },
  );
});
