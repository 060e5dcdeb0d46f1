import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Admission } from '../../src/flow/admission.ts';

const { signal } = new AbortController();

describe('Admission', () => {
  it('admits what fits in order of arrival, and what is larger than the bound alone', async () => {
    const admission = new Admission(10, () => true);
    const order: string[] = [];
    const enter = async (name: string, size: number) => {
      const permit = await admission.enter(size, signal);
      order.push(name);
      permit.begun();
      return permit;
    };
    const [a, b, c] = [enter('a', 6), enter('b', 20), enter('c', 1)];
    await a;
    await new Promise(setImmediate);
    expect(order).toEqual(['a']);
    (await a).release();
    (await b).release();
    (await c).release();
    expect(order).toEqual(['a', 'b', 'c']);
  });

  it('asks for room with what was admitted and has not begun', async () => {
    const admission = new Admission(10, (arriving) => arriving === 0);
    const first = await admission.enter(4, signal);
    let isAdmitted = false;
    const second = admission.enter(4, signal).then(() => (isAdmitted = true));
    await new Promise(setImmediate);
    expect(isAdmitted).toBe(false);
    first.begun();
    await second;
  });

  it('keeps the bound and admits everything at last, however work ends', async () => {
    const work = fc.record({
      size: fc.integer({ min: 1, max: 30 }),
      released: fc.constantFrom('at its end', 'before it begins', 'aborted', 'twice'),
      turns: fc.nat(3),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(work, { maxLength: 20 }), async (works) => {
        const asked: number[] = [];
        const admission = new Admission(20, (arriving) => asked.push(arriving) > 0);
        let running = 0;
        let inside = 0;
        await Promise.all(
          works.map(async ({ size, released, turns }) => {
            const controller = new AbortController();
            if (released === 'aborted') setImmediate(() => controller.abort(new Error('aborted')));
            const permit = await admission.enter(size, controller.signal).catch(() => null);
            if (permit === null) return;
            try {
              running += size;
              inside++;
              expect(running <= 20 || inside === 1).toBe(true);
              if (released === 'before it begins') return;
              permit.begun();
              for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
            } finally {
              running -= size;
              inside--;
              permit.release();
              if (released === 'twice') permit.release();
            }
          }),
        );
        expect(running).toBe(0);
        // All room is back, no more and no less, and nothing counts as arriving any more.
        asked.length = 0;
        (await admission.enter(1, signal)).begun();
        const rest = await admission.enter(19, signal);
        expect(asked).toEqual([0]);
        let isOver = false;
        const over = admission.enter(1, signal).then(() => (isOver = true));
        await new Promise(setImmediate);
        expect(isOver).toBe(false);
        rest.release();
        await over;
      }),
    );
  });
});
