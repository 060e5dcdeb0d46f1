import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CombinedParts, type ScoredPart } from '../../src/domain/combined-parts.ts';
import { decide, type Policy } from '../../src/domain/policy.ts';
import { MAX_FOREIGN_CATEGORIES, type CategoryName } from '../../src/domain/taxonomy.ts';

interface Part extends ScoredPart {
  readonly name?: string;
}

function combine(...parts: readonly Part[]): Part | null {
  const combined = new CombinedParts<Part>();
  for (const part of parts) combined.add(part);
  return combined.combined;
}

const CLEAN: Part = { score: 0.1, flagged: false, subcategoryScores: null, subcategoryFlags: null };

test('each category has its highest score, and every flag is kept', () => {
  const first = {
    name: 'first',
    score: 0.6,
    flagged: true,
    subcategoryScores: { violent_crimes: 0.5, hate: 0.2 },
    subcategoryFlags: ['violent_crimes'],
  };
  const second = {
    name: 'second',
    score: 0.5,
    flagged: true,
    subcategoryScores: { hate: 0.45, 'openai/sexual/minors': 0.6 },
    subcategoryFlags: ['hate', 'novel'],
  };
  const scores = { violent_crimes: 0.5, hate: 0.45, 'openai/sexual/minors': 0.6 };
  const both = combine(first, second)!;
  expect(both).toMatchObject({ name: 'first', score: 0.6, flagged: true, subcategoryScores: scores });
  expect(new Set(both.subcategoryFlags)).toEqual(new Set(['violent_crimes', 'hate', 'novel']));
  expect(combine(second, first)!.subcategoryScores).toEqual(scores);
  expect(combine(CLEAN, second)).toEqual(second);
});

const own: readonly CategoryName[] = ['hate', 'child_sexual_exploitation'];
const categories: readonly CategoryName[] = [...own, 'openai/violence', 'openai/sexual/minors'];
const score = fc.constantFrom(0, 0.2, 0.4, 0.5, 0.6, 0.8, 1);
const part: fc.Arbitrary<Part> = fc.record({
  score,
  flagged: fc.boolean(),
  subcategoryScores: fc.option(fc.dictionary(fc.constantFrom(...categories), score)),
  subcategoryFlags: fc.option(fc.uniqueArray(fc.constantFrom(...categories, 'novel'))),
});
const levels = fc.record({ review: score, block: score }, { requiredKeys: [] });
const policy: fc.Arbitrary<Policy> = fc.record(
  {
    thresholds: fc.option(fc.dictionary(fc.constantFrom('default', ...categories), levels)),
    allowFlagged: fc.boolean(),
    allowPartial: fc.boolean(),
    taxonomy: fc.constantFrom<NonNullable<Policy['taxonomy']>>(
      ...([{}, { 'openai/violence': 'child_sexual_exploitation' }, { 'openai/violence': 'hate' }] as const),
    ),
  },
  { requiredKeys: ['thresholds', 'allowFlagged', 'allowPartial'] },
);

test('the decision of an item is never milder than that of any of its parts', () => {
  const severity = { allow: 0, review: 1, block: 2 };
  const decisionOn = (rules: Policy, scored: Part): number =>
    severity[decide(rules, { ...scored, needsCaution: false, partial: false }).decision];
  fc.assert(
    fc.property(policy, fc.array(part, { minLength: 1, maxLength: 6 }), (rules, parts) => {
      const item = decisionOn(rules, combine(...parts)!);
      for (const each of parts) expect(item).toBeGreaterThanOrEqual(decisionOn(rules, each));
    }),
    { numRuns: 2000 },
  );
});

test('unknown categories are bounded and counted under one name', () => {
  const parts = Array.from({ length: 500 }, (_, at) => ({
    ...CLEAN,
    subcategoryFlags: Array.from({ length: 64 }, (_, flag) => `category ${at} ${flag}`),
  }));
  const flags = combine(...parts, { ...CLEAN, subcategoryFlags: ['hate'] })!.subcategoryFlags!;
  expect(flags.length).toBeLessThan(30);
  expect(flags).toEqual(expect.arrayContaining(['category 0 0', 'other_categories', 'hate']));
});

test('more categories of other taxonomies than a record holds are reported, not dropped', () => {
  const combined = new CombinedParts<Part>();
  for (let at = 0; at < MAX_FOREIGN_CATEGORIES; at++) {
    combined.add({ ...CLEAN, subcategoryScores: { [`policy/rule-${at}`]: 0.5 } });
  }
  expect(combined.isOverfull).toBe(false);
  combined.add({ ...CLEAN, subcategoryFlags: ['policy/one-more'] });
  expect(combined.isOverfull).toBe(true);
});
