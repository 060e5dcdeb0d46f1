import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  progressLine,
  progressLines,
  type ProgressSnapshot,
} from '../../../src/cli/progress/progress-lines.ts';
import { RateWindow, startProgress } from '../../../src/cli/progress/progress.ts';
import { output } from '../terminal.ts';

const START: ProgressSnapshot = {
  planned: 1000,
  planClosed: true,
  sent: 0,
  answered: 0,
  judged: 0,
  review: 0,
  block: 0,
  reused: 0,
  errors: 0,
  fraction: null,
  note: null,
};

const FLEET = { sent: null, answered: null, reused: null };

describe('the progress lines', () => {
  it.each<[Partial<ProgressSnapshot>, number | null, string, string]>([
    [{}, null, '0%; 0 block, 0 review', 'read 1,000 > sent 0 > judged 0 > committed 0'],
    [
      { sent: 500, answered: 420, judged: 400, block: 3, review: 12 },
      100,
      '40%, 100 items/s, about 6 s left; 3 block, 12 review',
      'read 1,000 > sent 500 > judged 420 > committed 400',
    ],
    [
      { sent: 400, answered: 400, judged: 390, errors: 10, reused: 30 },
      2.55,
      '40%, 2.5 items/s, about 3 min 55 s left; 0 block, 0 review, 10 not judged',
      'read 1,000 > sent 400 > judged 400 > committed 400 (30 reused)',
    ],
    [
      { ...FLEET, planClosed: false, judged: 400, fraction: 0.1 },
      10,
      'about 10%, 10 items/s, about 6 min 0 s left; 0 block, 0 review',
      'read 1,000+ > committed 400',
    ],
    [
      { ...FLEET, judged: 400, note: 'waiting for a worker (guardsweep worker)' },
      0,
      '40%, waiting for a worker (guardsweep worker); 0 block, 0 review',
      'read 1,000 > committed 400',
    ],
    [
      { ...FLEET, planned: 0, planClosed: false },
      0,
      '0.0 items/s; 0 block, 0 review',
      'read 0+ > committed 0',
    ],
  ])('of %j at %d/s', (snapshot, rate, pace, stages) => {
    const complete = { ...START, ...snapshot };
    expect(progressLines(complete, rate)).toEqual([pace, stages]);
    expect(progressLine(complete, rate)).toBe(`${pace}; ${stages}`);
  });

  it('fit any terminal of 40 columns or more', () => {
    const count = fc.nat({ max: 100_000_000 });
    const snapshot = fc.record({
      ...{ planned: count, planClosed: fc.boolean(), sent: fc.option(count), answered: fc.option(count) },
      ...{
        judged: count,
        review: count,
        block: count,
        reused: fc.option(count),
        errors: count,
      },
      fraction: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
      note: fc.option(fc.constantFrom('paused', 'waiting for a guard', 'waiting for disk space')),
    });
    const rate = fc.option(fc.double({ min: 0, max: 1e6, noNaN: true }));
    fc.assert(
      fc.property(snapshot, rate, fc.integer({ min: 40, max: 200 }), (of, perSecond, columns) => {
        for (const line of progressLines(of, perSecond, columns)) {
          expect(line.length).toBeLessThanOrEqual(columns);
        }
      }),
    );
  });
});

it('the rate is of the last seconds only', () => {
  const rate = new RateWindow(10_000);
  expect(rate.perSecond()).toBeNull();
  for (let s = 0; s <= 20; s++) rate.add(s * 1000, s * 100);
  expect(rate.perSecond()).toBe(100);
  for (let s = 21; s <= 40; s++) rate.add(s * 1000, 2000);
  expect(rate.perSecond()).toBe(0);
});

describe('progress', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const counting = () => {
    let judged = 0;
    return () => ({ ...START, judged: (judged += 10) });
  };

  it('rewrites two lines of a terminal at most five times a second, and takes them away at the end', () => {
    const stderr = output({ columns: 24 });
    const progress = startProgress({ stderr, env: {}, quiet: false }, counting());
    vi.advanceTimersByTime(1000);
    const drawn = stderr.text().split('\u001b[J').slice(1);
    expect(drawn.length).toBe(5);
    for (const text of drawn) {
      const [pace, stages, ...more] = text.split(/\r/)[0]!.split('\n');
      expect(more).toEqual([]);
      for (const line of [pace!, stages!]) expect(line.length).toBeLessThan(24);
    }
    progress.say('a notice');
    progress.stop();
    progress.stop();
    expect(stderr.text()).toMatch(
      /\r\u001b\[1A\u001b\[Ja notice\n\r\u001b\[J7%[^\n]*\n70 of [^\n]*\r\u001b\[1A\u001b\[J$/,
    );
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
    expect(stderr.text().split('\n')).toEqual([
      '2%, 1.0 items/s, about 16 min 20 s left; 0 block, 0 review; read 1,000 > sent 0 > judged 0 > committed 20',
      '3%, 1.0 items/s, about 16 min 10 s left; 0 block, 0 review; read 1,000 > sent 0 > judged 0 > committed 30',
      'a notice',
      '',
    ]);
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
