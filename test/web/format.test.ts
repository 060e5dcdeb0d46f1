import { describe, expect, it } from 'vitest';
import type { RunProgress } from '../../src/dashboard/api/runs.ts';
import { doneShare, paceWords, progressWords } from '../../web/dashboard/runs/progress-words.ts';
import { formatCount, duration, percent } from '../../web/dashboard/ui/format.ts';

describe('numbers of the dashboard', () => {
  it.each([
    [0, 10, '0%'],
    [1, 100_000, '< 0.1%'],
    [99_999, 100_000, '> 99.9%'],
    [10, 10, '100%'],
    [1, 8, '12.5%'],
    [0, 0, '–'],
  ])('%i of %i are %s', (part, whole, words) => {
    expect(percent(part, whole)).toBe(words);
  });

  it.each([
    [0.2, '< 1 s'],
    [59.6, '1 min'],
    [75, '1 min 15 s'],
    [1500, '25 min'],
    [4021, '1 h 7 min'],
    [180_000, '2 d 2 h'],
  ])('%f seconds are %s', (seconds, words) => {
    expect(duration(seconds)).toBe(words);
  });

  it('have the right noun', () => {
    expect([formatCount(1, 'item'), formatCount(1234, 'item')]).toEqual(['1 item', '1,234 items']);
  });
});

describe('progress of a run', () => {
  const progress: RunProgress = {
    ...{ planned: 1000, plan_closed: true, judged: 998, review: 40, block: 2, errors: 1 },
    by_category: {},
    ...{ items_per_second: 12.345, seconds_left: 1 },
  };

  it('is never all before everything is done, and counts errors', () => {
    expect(progressWords({ progress })).toBe('99%, 999 of 1,000 items, 1 not judged');
    expect(paceWords({ state: 'running', progress })).toBe('12.3 items/s, about 1 s left');
    expect(paceWords({ state: 'paused', progress })).toBe('');
  });

  it('has no share as long as items may be found', () => {
    const open = { ...progress, plan_closed: false, errors: 0 };
    expect(doneShare(open)).toBeNull();
    expect(progressWords({ progress: open })).toBe('998 of 1,000 items found so far');
  });

  it('of a run without items is all', () => {
    const none = { ...progress, planned: 0, judged: 0, errors: 0 };
    expect(progressWords({ progress: none })).toBe('100%, 0 of 0 items');
  });
});
