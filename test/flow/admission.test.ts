import { describe, expect, it } from 'vitest';
import { Admission } from '../../src/flow/admission.ts';
import { gate } from '../helpers/gate.ts';

const signal = new AbortController().signal;

describe('Admission', () => {
  it('admits what fits, in order of arrival, and what is larger than the bound alone', async () => {
    const admission = new Admission(10, () => true);
    const order: string[] = [];
    const run = (name: string, size: number): { readonly end: () => void; readonly ended: Promise<void> } => {
      const end = gate();
      const ended = admission.run(size, signal, async () => {
        order.push(name);
        await end.opened;
      });
      return { end: () => end.open(), ended };
    };
    const a = run('a', 6);
    const b = run('b', 20);
    const c = run('c', 1);
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

  it('does not let a caller that gives up hold back those behind it', async () => {
    const admission = new Admission(10, () => true);
    const end = gate();
    const running = admission.run(10, signal, () => end.opened);
    const controller = new AbortController();
    const first = admission.run(10, controller.signal, async () => 'first');
    const second = admission.run(5, signal, async () => 'second');
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(first).rejects.toBe(reason);
    end.open();
    await running;
    expect(await second).toBe('second');
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
    const first = admission.run(4, signal, failing);
    const second = admission.run(4, signal, async () => 'second');
    expect(asked).toEqual([4]);
    // The first has begun by now, so the second is admitted beside it.
    expect(await second).toBe('second');
    expect(asked).toEqual([4, 0]);
    end.open();
    await expect(first).rejects.toThrow('the work failed');
    expect(await admission.run(10, signal, async () => 'third')).toBe('third');
  });
});
