import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Admission } from '../../src/flow/admission.ts';
import { gate } from '../helpers/guards/gate.ts';

const { signal } = new AbortController();

/** Runs work as the pool does. */
async function run<T>(
  admission: Admission,
  size: number,
  by: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  const permit = await admission.enter(size, by);
  try {
    by.throwIfAborted();
    const ended = work();
    permit.begun();
    return await ended;
  } finally {
    permit.release();
  }
}

describe('Admission', () => {
  it('admits what fits, in order of arrival, and what is larger than the bound alone', async () => {
    const admission = new Admission(10, () => true);
    const order: string[] = [];
    const start = (
      name: string,
      size: number,
    ): { readonly end: () => void; readonly ended: Promise<void> } => {
      const end = gate();
      const ended = run(admission, size, signal, async () => {
        order.push(name);
        await end.opened;
      });
      return { end: () => end.open(), ended };
    };
    const a = start('a', 6);
    const b = start('b', 20);
    const c = start('c', 1);
    await new Promise(setImmediate);
    expect(order).toEqual(['a']);
    a.end();
    await a.ended;
    await new Promise(setImmediate);
    expect(order).toEqual(['a', 'b']);
    b.end();
    await b.ended;
    c.end();
    await c.ended;
    expect(order).toEqual(['a', 'b', 'c']);
  });

  it('asks for room with what was admitted and has not begun, and gives room back when work fails', async () => {
    const asked: number[] = [];
    const admission = new Admission(10, (arriving) => {
      asked.push(arriving);
      return arriving === 0;
    });
    const end = gate();
    const failing = async (): Promise<void> => {
      await end.opened;
      throw new Error('the work failed');
    };
    const first = run(admission, 4, signal, failing);
    const second = run(admission, 4, signal, async () => 'second');
    expect(asked).toEqual([4]);
    // The first has begun by now, so the second is admitted beside it.
    expect(await second).toBe('second');
    expect(asked).toEqual([4, 0]);
    end.open();
    await expect(first).rejects.toThrow('the work failed');
    expect(await run(admission, 10, signal, async () => 'third')).toBe('third');
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
