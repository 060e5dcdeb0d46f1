import { expect, test } from 'vitest';
import { retryAfterMs } from '../../../src/guard/faults/classify.ts';

test('Retry-After is seconds or a date, and honored up to a day', () => {
  const now = Date.parse('2026-11-21T02:00:00Z');
  expect(retryAfterMs('3', now)).toBe(3000);
  expect(retryAfterMs(' 0 ', now)).toBe(0);
  expect(retryAfterMs('Sat, 21 Nov 2026 02:00:05 GMT', now)).toBe(5000);
  expect(retryAfterMs('Sat, 21 Nov 2026 01:00:00 GMT', now)).toBe(0);
  expect(retryAfterMs('99999999999', now)).toBe(24 * 3_600_000);
  for (const nothing of [undefined, '', 'soon', '-1x']) expect(retryAfterMs(nothing, now)).toBeNull();
});
