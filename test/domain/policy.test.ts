import { describe, expect, it } from 'vitest';
import { DEFAULT_POLICY, decide, type Policy, type PolicyInput } from '../../src/domain/policy.ts';
import { describeRule } from '../../src/domain/words/decided-by-words.ts';

const clean: PolicyInput = {
  score: 0.1,
  flagged: false,
  subcategoryScores: null,
  subcategoryFlags: null,
  needsCaution: false,
  partial: false,
};
const flagged: PolicyInput = {
  score: 0.9,
  flagged: true,
  subcategoryScores: { hate: 0.45, violent_crimes: 0.85 },
  subcategoryFlags: ['violent_crimes'],
  needsCaution: false,
  partial: false,
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

describe('decide', () => {
  it('without a policy file lets the flag decide (C-214)', () => {
    expect(decide(DEFAULT_POLICY, clean)).toEqual({
      decision: 'allow',
      decidedBy: null,
      thresholdUnapplied: false,
    });
    expect(ruling(DEFAULT_POLICY, flagged)).toBe('block: flagged');
  });

  it('names the first of the severest rules (C-114)', () => {
    expect(ruling(policy, flagged)).toBe('block: score>=0.8');
    expect(ruling(policy, { ...flagged, score: 0.6 })).toBe('block: violent_crimes>=0.8');
    expect(ruling(policy, { ...flagged, score: 0.1, subcategoryScores: { hate: 0.4 } })).toBe(
      'review: hate>=0.4',
    );
  });

  it('applies a threshold from the score on, not above it (C-213)', () => {
    expect(decide(policy, { ...clean, score: 0.5 }).decision).toBe('review');
    expect(decide(policy, { ...clean, score: 0.499999 }).decision).toBe('allow');
  });

  it('keeps what was flagged at least in review unless told otherwise', () => {
    const low: PolicyInput = { ...flagged, score: 0.2, subcategoryScores: null, subcategoryFlags: null };
    expect(ruling(policy, low)).toBe('review: flagged');
    expect(decide({ ...policy, allowFlagged: true }, low).decision).toBe('allow');
  });

  it('keeps what was judged in part at least in review unless told otherwise', () => {
    const part: PolicyInput = { ...clean, partial: true };
    expect(ruling(policy, part)).toBe('review: partial coverage');
    expect(decide({ ...policy, allowPartial: true }, part).decision).toBe('allow');
    expect(decide(DEFAULT_POLICY, part).decision).toBe('review');
  });

  it('reviews what needs caution, unless flags are allowed, and names a flag first (C-228)', () => {
    const cautioned: PolicyInput = { ...clean, needsCaution: true };
    expect(ruling(DEFAULT_POLICY, cautioned)).toBe('review: needs_caution');
    expect(ruling(policy, cautioned)).toBe('review: needs_caution');
    expect(decide({ ...policy, allowFlagged: true }, cautioned).decision).toBe('allow');
    expect(decide(DEFAULT_POLICY, { ...flagged, needsCaution: true }).decidedBy).toBe('flagged');
  });

  it('blocks what is flagged for child sexual exploitation whatever the scores', () => {
    const found = { subcategoryScores: null, subcategoryFlags: ['child_sexual_exploitation'] };
    const scored: PolicyInput = { ...flagged, ...found, score: 0.1 };
    expect(ruling({ ...policy, allowFlagged: true }, scored)).toBe(
      'block: child_sexual_exploitation flagged',
    );
  });

  it('reviews a flag under a category it does not know', () => {
    const scored: PolicyInput = { ...clean, subcategoryFlags: ['something_new'] };
    expect(ruling(DEFAULT_POLICY, scored)).toBe('review: unknown category flagged');
  });

  it('reviews a flagged category of something that is not flagged, unless flags may pass', () => {
    const scored: PolicyInput = { ...clean, subcategoryFlags: ['hate', 'privacy'] };
    for (const rules of [DEFAULT_POLICY, policy]) {
      expect(ruling(rules, scored)).toBe('review: hate flagged');
    }
    expect(decide({ ...DEFAULT_POLICY, allowFlagged: true }, scored).decision).toBe('allow');
  });

  it('says when a category threshold could not be applied, and never reads absent as zero', () => {
    expect(decide(policy, clean).thresholdUnapplied).toBe(true);
    const zeroBlocks: Policy = { ...policy, thresholds: { hate: { block: 0 } } };
    expect(decide(zeroBlocks, clean).decision).toBe('allow');
  });
});

it('counts a category of another taxonomy as ours where the policy says so, and only there', () => {
  const said: PolicyInput = {
    ...{ score: 0.2, flagged: false, needsCaution: false, partial: false },
    subcategoryScores: { 'openai/hate': 0.7 },
    subcategoryFlags: ['openai/sexual'],
  };
  const policy: Policy = {
    thresholds: { hate: { block: 0.6 } },
    ...{ allowFlagged: true, allowPartial: false },
  };
  expect(decide(policy, said)).toEqual({ decision: 'allow', decidedBy: null, thresholdUnapplied: true });
  const taxonomy = { 'openai/hate': 'hate', 'openai/sexual': 'child_sexual_exploitation' } as const;
  expect(decide({ ...policy, taxonomy }, said)).toEqual({
    ...{ decision: 'block', decidedBy: 'hate>=0.6', thresholdUnapplied: false },
  });
  expect(decide({ ...policy, thresholds: null, taxonomy }, said).decidedBy).toBe(
    'child_sexual_exploitation flagged',
  );
});

it('is explained in words', () => {
  expect(describeRule('hate>=0.4')).toBe('Hate score at or above 0.4');
  expect(describeRule('openai/sexual/minors flagged')).toBe('Flagged by the guard for openai/sexual/minors');
  for (const rule of ['constructor flagged', 'mood>=0.5', '<b>']) expect(describeRule(rule)).toBe(rule);
});
