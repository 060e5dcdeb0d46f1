import { describe, expect, it } from 'vitest';
import { type Gates, NO_GATES } from '../../../src/config/run-config.ts';
import type { Decision, OutcomeLine } from '../../../src/domain/outcome.ts';
import { gateResults } from '../../../src/record/summary/gates.ts';
import { DEFAULT_POLICY } from '../../../src/domain/policy.ts';
import { NO_RULING, rulingOn } from '../../../src/record/tally.ts';
import { counted, errorLine, outcomeLine } from '../outcome-line.ts';

const ERROR = errorLine({ code: 'TIMEOUT', message: 'late', retryable: true });

const flagged = (more: Partial<OutcomeLine>): Partial<OutcomeLine> => {
  return { flagged: true, decision: 'block', decided_by: 'flagged', ...more };
};

describe('a gate', () => {
  it('trips above its limit, not at it', () => {
    const counts = counted([flagged({ subcategory_flags: ['hate'] }), {}, {}, {}]);
    expect(gateResults({ ...NO_GATES, flaggedRate: 0.25 }, counts)).toEqual([
      { gate: 'flaggedRate', limit: 0.25, value: 0.25, part: 1, unknown: 0, whole: 4, tripped: false },
    ]);
    expect(gateResults({ ...NO_GATES, flaggedRate: 0.24 }, counts)).toMatchObject([{ tripped: true }]);
    expect(gateResults({ ...NO_GATES, flaggedRate: 0 }, counts)).toMatchObject([{ tripped: true }]);
  });

  it('counts as uncovered what was not judged, and what was judged in part', () => {
    const partial = { unit: 'chars', judged: 5, total: 10, worst_at: 0 } as const;
    const reviewed = { coverage: partial, decision: 'review', decided_by: 'partial coverage' } as const;
    const counts = counted([ERROR, reviewed, {}, {}]);
    expect(gateResults({ ...NO_GATES, errorRate: 0.25, uncoveredRate: 0.25 }, counts)).toMatchObject([
      { gate: 'errorRate', value: 0.25, part: 1, whole: 4, tripped: false },
      { gate: 'uncoveredRate', value: 0.5, part: 2, whole: 4, tripped: true },
    ]);
  });

  it('of a category counts what the guard flags in it, whatever the policy decides', () => {
    const scores = { hate: 0.9, privacy: 0.1 };
    const hate = flagged({ subcategory_flags: ['hate'], subcategory_scores: scores });
    const [result] = gateResults({ ...NO_GATES, categories: { hate: 0.4 } }, counted([hate, {}]));
    const rate = { limit: 0.4, value: 0.5, part: 1, unknown: 0, whole: 2 };
    expect(result).toEqual({ gate: 'hate', ...rate, tripped: true });
    const [other] = gateResults({ ...NO_GATES, categories: { privacy: 0 } }, counted([hate, {}]));
    expect(other).toMatchObject({ part: 0, unknown: 0, tripped: false });
  });

  it('of a category counts what is flagged without a score for it', () => {
    const unscored = flagged({ subcategory_flags: null, subcategory_scores: null });
    const notLoaded = flagged({ subcategory_flags: ['privacy'], subcategory_scores: { privacy: 0.9 } });
    const gates = { ...NO_GATES, categories: { hate: 0.4 } };
    const [result] = gateResults(gates, counted([unscored, notLoaded, {}]));
    expect(result).toMatchObject({ part: 2, unknown: 2, whole: 3, tripped: true });
  });

  it('trips where there are items but no verdict, and not where there are no items', () => {
    const gates: Gates = { ...NO_GATES, flaggedRate: 1, categories: { hate: 1 } };
    const results = gateResults(gates, counted([ERROR]));
    expect(results).toMatchObject([
      { gate: 'flaggedRate', value: null, whole: 0, tripped: true },
      { gate: 'hate', value: null, whole: 0, tripped: true },
    ]);
    const empty = gateResults(gates, counted([]));
    expect(empty).toMatchObject([{ tripped: false }, { tripped: false }]);
  });
});

it('counts flags under unknown names by name up to a bound, and the others together', () => {
  const lines = Array.from({ length: 50 }, (_, item) => {
    const flags = ['hate', ...Array.from({ length: 100 }, (_, index) => `made up ${item}-${index}`)];
    return { flagged: true, decision: 'block', subcategory_flags: flags } as const;
  });
  const { by_category } = counted(lines);
  expect(Object.keys(by_category)).toHaveLength(1 + 64 + 1);
  expect(by_category).toMatchObject({ hate: 50, 'made up 0-0': 1, other_categories: 5000 - 64 });
});

it('checks the decision on a generation that needs caution', () => {
  const stream = {
    chunks: 10,
    first_caution_seq: 4,
    first_flagged_seq: null,
    lag_chunks: 1,
    lag_ms: 2,
    shown_share_at_caution: 0.5,
    shown_share_at_flag: null,
  };
  const line = outcomeLine({ stream, decision: 'review', decided_by: 'needs_caution' });
  expect(rulingOn(DEFAULT_POLICY, line)).toEqual(NO_RULING);
  expect(rulingOn(DEFAULT_POLICY, outcomeLine({ stream }))).toBeNull();
});

it('has every review and every block in a category or in none, apart from the flags of the guard', () => {
  const lines: [decision: Decision, flagged: boolean, categories: string[] | null][] = [
    ['block', true, ['hate']],
    ['block', true, ['hate', 'made up']],
    ['block', true, null],
    ['review', false, []],
    ['review', false, ['hate']],
    ['allow', true, []],
    ['allow', false, null],
  ];
  const counts = counted(
    lines.map(([decision, flagged, subcategory_flags]) => ({ decision, flagged, subcategory_flags })),
  );
  expect(counts).toMatchObject({
    flagged: 5,
    guard_flagged: 4,
    by_category: { hate: 3, 'made up': 1 },
    decisions_by_category: {
      hate: { allow: 0, review: 1, block: 2 },
      'made up': { allow: 0, review: 0, block: 1 },
    },
    without_category: 3,
    decisions_without_category: { allow: 1, review: 1, block: 1 },
  });
});
