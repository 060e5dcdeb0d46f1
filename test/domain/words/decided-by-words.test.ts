import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeRule } from '../../../src/domain/words/decided-by-words.ts';
import { decide, type Policy, type PolicyInput, type Thresholds } from '../../../src/domain/policy.ts';
import { CATEGORY_KEYS } from '../../../src/domain/taxonomy.ts';

const score = fc.double({ min: 0, max: 1, noNaN: true });
const thresholds: fc.Arbitrary<Thresholds> = fc.record({ review: score, block: score }, { requiredKeys: [] });
const policy: fc.Arbitrary<Policy> = fc.record({
  thresholds: fc.option(fc.dictionary(fc.constantFrom('default', ...CATEGORY_KEYS), thresholds)),
  allowFlagged: fc.boolean(),
  allowPartial: fc.boolean(),
});
const scored: fc.Arbitrary<PolicyInput> = fc.record({
  score,
  flagged: fc.boolean(),
  subcategoryScores: fc.option(fc.dictionary(fc.constantFrom(...CATEGORY_KEYS), score)),
  subcategoryFlags: fc.option(fc.array(fc.oneof(fc.constantFrom(...CATEGORY_KEYS), fc.string()))),
  needsCaution: fc.boolean(),
  partial: fc.boolean(),
});

describe('decidedByInWords', () => {
  it.each([
    ['hate>=0.4', 'Hate score at or above 0.4'],
    ['suicide_self_harm>=1e-7', 'Suicide & Self-Harm score at or above 1e-7'],
    ['score>=0.8', 'Overall score at or above 0.8'],
    ['flagged', 'Flagged by the guard'],
    ['privacy flagged', 'Flagged by the guard for Privacy'],
    ['child_sexual_exploitation flagged', 'Flagged by the guard for Child Sexual Exploitation'],
    ['unknown category flagged', 'Flagged by the guard for a category outside the taxonomy'],
    ['partial coverage', 'Judged only in part'],
    ['needs_caution', 'The guard asked for caution'],
    ['openai/hate>=0.6', 'openai/hate score at or above 0.6'],
    ['openai/sexual/minors flagged', 'Flagged by the guard for openai/sexual/minors'],
    [null, 'No rule applied'],
  ])('says %s in words', (rule, words) => {
    expect(describeRule(rule)).toBe(words);
  });

  it('has words for every rule that decides', () => {
    fc.assert(
      fc.property(policy, scored, (rules, verdict) => {
        const { decidedBy } = decide(rules, verdict);
        const words = describeRule(decidedBy);
        expect(words).toMatch(/^[A-Z]/);
        expect(words).not.toBe(decidedBy);
        expect(words).not.toContain('_');
      }),
    );
  });

  it('leaves a rule that no policy makes as it is', () => {
    for (const rule of [
      '',
      'constructor flagged',
      'toString>=1',
      'mood>=0.5',
      'made/up>=1',
      'score flagged',
      '<b>',
    ]) {
      expect(describeRule(rule)).toBe(rule);
    }
  });
});
