import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isNestedTooDeeply } from '../../src/formats/json/json-record.ts';

const MAX_DEPTH = 10_000;

it('the depth of any JSON is told by its brackets alone, not by those in texts', () => {
  const level = fc.constantFrom<[opening: string, closing: string]>(
    ['[', ']'],
    ['{"[{":', '}'],
    ['["\\"[[[",', ']'],
    ['[{},[[]],"]]]\\\\",', ']'],
  );
  const depth = fc.oneof(
    fc.integer({ min: 1, max: 100 }),
    fc.integer({ min: -2, max: 2 }).map((by) => MAX_DEPTH + by),
  );
  fc.assert(
    fc.property(fc.array(level, { minLength: 1, maxLength: 8 }), depth, (levels, depth) => {
      const at = (index: number) => levels[index % levels.length]!;
      const opening = Array.from({ length: depth }, (_, index) => at(index)[0]).join('');
      const closing = Array.from({ length: depth }, (_, index) => at(depth - 1 - index)[1]).join('');
      const text = `${opening}"${'[\\"{'.repeat(100_000)}"${closing}`;
      JSON.parse(text);
      // A level may hold lists of its own, beside the next one.
      const beside = levels.some(([start]) => start.includes('[[]]')) ? 2 : 0;
      const said = isNestedTooDeeply(Buffer.from(text));
      if (depth > MAX_DEPTH) expect(said).toBe(true);
      if (depth + beside <= MAX_DEPTH) expect(said).toBe(false);
    }),
    { numRuns: 200 },
  );
});
