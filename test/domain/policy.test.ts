import { expect, it } from 'vitest';
import { DEFAULT_POLICY, decide, type Policy, type PolicyInput } from '../../src/domain/policy.ts';
import { describeRule } from '../../src/domain/words/decided-by-words.ts';

const NO_CATEGORIES = { subcategoryScores: null, subcategoryFlags: null };
const clean: PolicyInput = {
  score: 0.1,
  flagged: false,
  ...NO_CATEGORIES,
  needsCaution: false,
  partial: false,
};
const flagged: PolicyInput = {
  ...clean,
  score: 0.9,
  flagged: true,
  subcategoryScores: { hate: 0.45, violent_crimes: 0.85 },
  subcategoryFlags: ['violent_crimes'],
};
const policy: Policy = {
  thresholds: { default: { review: 0.5, block: 0.8 }, hate: { review: 0.4 } },
  allowFlagged: false,
  allowPartial: false,
};

/** The decision, and what decided. */
function ruling(by: Policy, input: PolicyInput): string {
  const { decision, decidedBy } = decide(by, input);
  return `${decision}: ${decidedBy}`;
}

it('without a policy file lets the flag decide (C-214)', () => {
  expect(ruling(DEFAULT_POLICY, clean)).toBe('allow: null');
  expect(ruling(DEFAULT_POLICY, flagged)).toBe('block: flagged');
});

it('names the first of the severest rules (C-114)', () => {
  expect(ruling(policy, flagged)).toBe('block: score>=0.8');
  expect(ruling(policy, { ...flagged, score: 0.6 })).toBe('block: violent_crimes>=0.8');
  const milder = { ...flagged, score: 0.1, subcategoryScores: { hate: 0.4 } };
  expect(ruling(policy, milder)).toBe('review: hate>=0.4');
});

it('applies a threshold from the score on, not above it (C-213)', () => {
  expect(decide(policy, { ...clean, score: 0.5 }).decision).toBe('review');
  expect(decide(policy, { ...clean, score: 0.499999 }).decision).toBe('allow');
});

const unscored = { ...flagged, score: 0.2, subcategoryScores: null, subcategoryFlags: null };

it.each<[decidedBy: string, input: PolicyInput, lifted: 'allowFlagged' | 'allowPartial']>([
  ['flagged', unscored, 'allowFlagged'],
  ['needs_caution', { ...clean, needsCaution: true }, 'allowFlagged'],
  ['hate flagged', { ...clean, subcategoryFlags: ['hate', 'privacy'] }, 'allowFlagged'],
  ['partial coverage', { ...clean, partial: true }, 'allowPartial'],
])('reviews by the rule "%s" unless told otherwise (C-228)', (decidedBy, input, lifted) => {
  expect(ruling(policy, input)).toBe(`review: ${decidedBy}`);
  expect(decide(DEFAULT_POLICY, input).decision).not.toBe('allow');
  expect(decide({ ...policy, [lifted]: true }, input).decision).toBe('allow');
  const otherLifted: Policy = { ...policy, allowFlagged: true, allowPartial: true, [lifted]: false };
  expect(ruling(otherLifted, input)).toBe(`review: ${decidedBy}`);
});

it('blocks what is flagged for child sexual exploitation whatever the scores', () => {
  const input: PolicyInput = { ...unscored, subcategoryFlags: ['child_sexual_exploitation'] };
  expect(ruling({ ...policy, allowFlagged: true }, input)).toBe('block: child_sexual_exploitation flagged');
});

it('reviews a flag under a category it does not know', () => {
  const input: PolicyInput = { ...clean, subcategoryFlags: ['something_new'] };
  expect(ruling(DEFAULT_POLICY, input)).toBe('review: unknown category flagged');
});

it('says when a category threshold could not be applied, and never reads absent as zero', () => {
  expect(decide(policy, clean).thresholdUnapplied).toBe(true);
  const zeroBlocks: Policy = { ...policy, thresholds: { hate: { block: 0 } } };
  expect(decide(zeroBlocks, clean).decision).toBe('allow');
});

it('counts a category of another taxonomy as ours where the policy says so, and only there', () => {
  const found = { subcategoryScores: { 'openai/hate': 0.7 }, subcategoryFlags: ['openai/sexual'] };
  const said: PolicyInput = { ...clean, ...found, score: 0.2 };
  const lenient: Policy = { thresholds: { hate: { block: 0.6 } }, allowFlagged: true, allowPartial: false };
  expect(decide(lenient, said)).toEqual({ decision: 'allow', decidedBy: null, thresholdUnapplied: true });
  const taxonomy = { 'openai/hate': 'hate', 'openai/sexual': 'child_sexual_exploitation' } as const;
  const blocked = { decision: 'block', decidedBy: 'hate>=0.6', thresholdUnapplied: false };
  expect(decide({ ...lenient, taxonomy }, said)).toEqual(blocked);
  const { decidedBy } = decide({ ...lenient, thresholds: null, taxonomy }, said);
  expect(decidedBy).toBe('child_sexual_exploitation flagged');
});

it('is explained in words', () => {
  expect(describeRule('hate>=0.4')).toBe('Hate score at or above 0.4');
  expect(describeRule('openai/sexual/minors flagged')).toBe('Flagged by the guard for openai/sexual/minors');
  for (const rule of ['constructor flagged', 'mood>=0.5', '<b>']) expect(describeRule(rule)).toBe(rule);
});
