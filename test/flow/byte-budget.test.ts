import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ByteBudget } from '../../src/flow/byte-budget.ts';

it('a byte budget never lets more in than the limit, but for one larger than all of it, and lets everything in at last', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(150), { maxLength: 30 }), async (sizes) => {
      const budget = new ByteBudget(100);
      let [used, inside] = [0, 0];
      await Promise.all(
        sizes.map(async (bytes) => {
          await budget.enter(bytes, new AbortController().signal);
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
