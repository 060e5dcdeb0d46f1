import { expect, test } from 'vitest';
import type { Judgement } from '../../../src/domain/outcome.ts';
import { Combination } from '../../../src/moderate/parts/combination.ts';

function judgement(score: number, flags: readonly string[]): Judgement {
  return {
    score,
    flagged: true,
    subcategoryScores: null,
    subcategoryFlags: flags,
    fingerprint: null,
    endpoint: 'http://guard',
    latencyMs: 1,
    attempts: 1,
    cacheUsage: null,
    moderatedAt: '2026-11-21T02:00:03.120Z',
    coverage: { unit: 'chars', judged: 1, total: 1, worst_at: null },
  };
}

test('the parts of an item flag a bounded number of unknown categories, and every severe one', () => {
  const combination = new Combination();
  combination.add(0, judgement(0.9, ['hate', 'first']));
  for (let part = 1; part <= 5000; part++) {
    combination.add(
      part,
      judgement(
        0.5,
        Array.from({ length: 64 }, (_, at) => `category ${part} ${at}`),
      ),
    );
  }
  combination.add(5001, judgement(0.5, ['child_sexual_exploitation', 'privacy']));
  const flags = combination.judgement({ unit: 'chars', judged: 1, total: 1 })!.subcategoryFlags!;
  expect(flags.length).toBeLessThan(100);
  expect(flags).toEqual(
    expect.arrayContaining([
      'hate',
      'first',
      'category 1 0',
      'other_categories',
      'child_sexual_exploitation',
    ]),
  );
  expect(flags).not.toContain('privacy');
});
