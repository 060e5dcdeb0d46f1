import { expect, test } from 'vitest';
import { Admission } from '../../src/flow/admission.ts';

const signal = new AbortController().signal;

test('lets in what fits, in order of arrival, and one that is too large by itself', async () => {
  const admission = new Admission(10, () => true);
  const order: string[] = [];
  const enter = (name: string, size: number): Promise<void> =>
    admission.enter(size, signal).then(() => void order.push(name));
  await enter('a', 6);
  const b = enter('b', 20);
  const c = enter('c', 1);
  expect(order).toEqual(['a']);
  admission.leave(6);
  await b;
  expect(order).toEqual(['a', 'b']);
  admission.leave(20);
  await c;
  expect(order).toEqual(['a', 'b', 'c']);
});

test('who gives up does not hold back those behind', async () => {
  const admission = new Admission(10, () => true);
  await admission.enter(10, signal);
  const controller = new AbortController();
  const first = admission.enter(10, controller.signal);
  const second = admission.enter(5, signal);
  const reason = new Error('enough');
  controller.abort(reason);
  await expect(first).rejects.toBe(reason);
  admission.leave(10);
  await second;
});
