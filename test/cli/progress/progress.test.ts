import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { progressLine, timeLeft, type ProgressSnapshot } from '../../../src/cli/progress/progress-line.ts';
import { startProgress } from '../../../src/cli/progress/progress.ts';
import { RateWindow } from '../../../src/cli/progress/rate-window.ts';
import { output } from '../terminal.ts';

const START: ProgressSnapshot = {
  planned: 1000,
  planClosed: true,
  judged: 0,
  errors: 0,
  copies: 0,
  fraction: null,
  note: null,
};

describe('the progress line', () => {
  it.each<[Partial<ProgressSnapshot>, number | null, string]>([
    [{}, null, '0 of 1,000 items'],
    [{ judged: 400 }, 100, '400 of 1,000 items, 100/s, about 6 s left'],
    [{ judged: 390, errors: 10 }, 2.55, '400 of 1,000 items, 2.5/s, about 3 min 55 s left, 10 not judged'],
    [{ judged: 390, copies: 10 }, 100, '400 of 1,000 items, 100/s, about 6 s left, 10 copies'],
    [{ planClosed: false, judged: 400 }, 1234.5, '400 of 1,000+ items, 1,235/s'],
    [
      { planClosed: false, judged: 400, fraction: 0.1 },
      10,
      '400 of 1,000+ items, 10/s, about 6 min 0 s left',
    ],
    [{ judged: 400, note: 'waiting for a guard' }, 0, '400 of 1,000 items, 0.0/s, waiting for a guard'],
  ])('of %j at %d/s', (snapshot, rate, line) => {
    expect(progressLine({ ...START, ...snapshot }, rate)).toBe(line);
  });

  it.each([
    [0.2, '0 s'],
    [59.6, '1 min 0 s'],
    [200, '3 min 20 s'],
    [7500, '2 h 5 min'],
    [86_400 * 3 + 3600 * 4, '3 d 4 h'],
  ])('shows %d s as %s', (seconds, shown) => {
    expect(timeLeft(seconds)).toBe(shown);
  });
});

describe('the rate', () => {
  it('is of the last seconds only', () => {
    const rate = new RateWindow(10_000);
    expect(rate.perSecond()).toBeNull();
    for (let s = 0; s <= 20; s++) rate.add(s * 1000, s * 100);
    expect(rate.perSecond()).toBe(100);
    for (let s = 21; s <= 40; s++) rate.add(s * 1000, 2000);
    expect(rate.perSecond()).toBe(0);
  });

  it('keeps no more readings than its window holds', () => {
    const rate = new RateWindow(1000);
    rate.add(0, 0);
    rate.add(60_000, 600);
    expect(rate.perSecond()).toBe(10);
    rate.add(61_000, 1600);
    expect(rate.perSecond()).toBe(1000);
  });
});

describe('progress', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const counting = () => {
    let judged = 0;
    return () => ({ ...START, judged: (judged += 10) });
  };

  it('rewrites one line of a terminal at most five times a second, and takes it away at the end', () => {
    const stderr = output({ columns: 24 });
    const progress = startProgress({ stderr, env: {}, quiet: false }, counting());
    vi.advanceTimersByTime(1000);
    const drawn = stderr.text().split('\r\u001b[2K').slice(1);
    expect(drawn.length).toBe(5);
    for (const line of drawn) expect(line.length).toBeLessThan(24);
    progress.say('a notice');
    progress.stop();
    progress.stop();
    expect(stderr.text()).toMatch(/\r\u001b\[2Ka notice\n\r\u001b\[2K70 of [^\n]*\r\u001b\[2K$/);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([
    ['not a terminal', null, {}],
    ['a dumb terminal', { columns: 80 }, { TERM: 'dumb' }],
  ])('on %s is a plain line every 10 s', (_, terminal, env) => {
    const stderr = output(terminal);
    const progress = startProgress({ stderr, env, quiet: false }, counting());
    vi.advanceTimersByTime(25_000);
    progress.say('a notice');
    progress.stop();
    expect(stderr.text()).toBe(
      '20 of 1,000 items, 1.0/s, about 16 min 20 s left\n30 of 1,000 items, 1.0/s, about 16 min 10 s left\na notice\n',
    );
  });

  it('is nothing when quiet', () => {
    const stderr = output({ columns: 80 });
    const progress = startProgress({ stderr, env: {}, quiet: true }, counting());
    vi.advanceTimersByTime(25_000);
    progress.say('a notice');
    progress.stop();
    expect(stderr.text()).toBe('');
  });
});
