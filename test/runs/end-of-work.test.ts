import { expect, it } from 'vitest';
import { Failure } from '../../src/domain/failure.ts';
import { endOf } from '../../src/runs/end-of-work.ts';

const overtaken = new Failure('superseded', 'another process continues this run');
const assertCurrent = (): Promise<void> => Promise.reject(overtaken);

it('that it was overtaken is why a process found a record that did not fit what it knew', async () => {
  const closes = new Failure('internal', 'plan.jsonl line 13 closes pass 1 with totals that are not its own');
  expect(await endOf(closes, [], assertCurrent)).toBe(overtaken);
  expect(await endOf(new TypeError('anything'), [], assertCurrent)).toBe(overtaken);
  expect(await endOf(closes, [], () => Promise.resolve())).toBe(closes);
  const service = new Failure('service', 'no guard');
  expect(await endOf(service, [], assertCurrent)).toBe(service);
});

it('an abort of whatever wait is an interrupt', async () => {
  const aborted = Object.assign(new Error('The operation was aborted'), { name: 'AbortError' });
  const current = (): Promise<void> => Promise.resolve();
  expect(await endOf(aborted, [AbortSignal.abort()], current)).toMatchObject({ kind: 'interrupted' });
  expect(await endOf(aborted, [new AbortController().signal], current)).toBe(aborted);
});
