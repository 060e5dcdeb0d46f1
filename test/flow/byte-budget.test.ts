import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ByteBudget } from '../../src/flow/byte-budget.ts';

const never = new AbortController().signal;

it('a byte budget never lets more in than the limit, but for one larger than all of it, and lets everything in at last', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(150), { maxLength: 30 }), async (sizes) => {
      const budget = new ByteBudget(100);
      let used = 0;
      let inside = 0;
      await Promise.all(
        sizes.map(async (bytes) => {
          await budget.enter(bytes, never);
          used += bytes;
          inside++;
          expect(used <= 100 || inside === 1 || used === bytes).toBe(true);
          await new Promise(setImmediate);
          used -= bytes;
          inside--;
          budget.leave(bytes);
        }),
      );
      expect(used).toBe(0);
    }),
  );
});
