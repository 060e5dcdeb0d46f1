import { expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../../src/domain/policy.ts';
import { NO_RULING, rulingOn } from '../../src/record/tally.ts';
import { counted, outcomeLine } from './outcome-line.ts';

it('counts flags under unknown names by name up to a bound, and the others together', () => {
  const lines = Array.from({ length: 50 }, (_, item) => {
    const flags = ['hate', ...Array.from({ length: 100 }, (_, index) => `made up ${item}-${index}`)];
    return { flagged: true, decision: 'block', subcategory_flags: flags } as const;
  });
  const { by_category } = counted(lines);
  expect(Object.keys(by_category)).toHaveLength(1 + 64 + 1);
  expect(by_category).toMatchObject({ hate: 50, 'made up 0-0': 1, other_categories: 5000 - 64 });
});

const STREAM = {
  chunks: 10,
  first_caution_seq: null,
  first_flagged_seq: null,
  shown_share_at_caution: null,
  shown_share_at_flag: null,
  lag_chunks: 1,
  lag_ms: 2,
};

it('checks the decision on a generation that needs caution', () => {
  const stream = { ...STREAM, first_caution_seq: 4, shown_share_at_caution: 0.5 };
  const line = outcomeLine({ stream, decision: 'review', decided_by: 'needs_caution' });
  expect(rulingOn(DEFAULT_POLICY, line)).toEqual(NO_RULING);
  expect(rulingOn(DEFAULT_POLICY, outcomeLine({ stream }))).toBeNull();
});

it('has every review and every block in a category or in none, apart from the flags of the guard', () => {
  const lines = (
    [
      ['block', true, ['hate']],
      ['block', true, ['hate', 'made up']],
      ['block', true, null],
      ['review', false, []],
      ['review', false, ['hate']],
      ['allow', true, []],
      ['allow', false, null],
    ] as const
  ).map(([decision, flagged, subcategory_flags]) => ({ decision, flagged, subcategory_flags }));
  expect(counted(lines)).toMatchObject({
    ...{ flagged: 5, guard_flagged: 4 },
    by_category: { hate: 3, 'made up': 1 },
    decisions_by_category: {
      hate: { allow: 0, review: 1, block: 2 },
      'made up': { allow: 0, review: 0, block: 1 },
    },
    without_category: 3,
    decisions_without_category: { allow: 1, review: 1, block: 1 },
  });
});
