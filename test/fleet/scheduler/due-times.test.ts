import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Schedule } from '../../../src/config/values/schedule.ts';
import { dueTimes, nextDue } from '../../../src/fleet/scheduler/due-times.ts';

const at = (cron: string, timezone: string): Schedule => ({ cron, timezone, catchUp: 'once', keepMs: null });
const DAY_MS = 86_400_000;

it.each([
  // 02:30 does not exist on the night of 29 March in Berlin: it is due when it would have been, as 03:30.
  [
    at('30 2 * * *', 'Europe/Berlin'),
    '2026-03-28T12:00:00Z',
    ['2026-03-29T01:30:00Z', '2026-03-30T00:30:00Z'],
  ],
  // 01:30 exists twice on the night of 25 October in London: it is due the first time.
  [
    at('30 1 * * *', 'Europe/London'),
    '2026-10-24T12:00:00Z',
    ['2026-10-25T00:30:00Z', '2026-10-26T01:30:00Z'],
  ],
  // Every hour goes on every hour.
  [
    at('30 * * * *', 'Europe/London'),
    '2026-10-24T23:40:00Z',
    ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z', '2026-10-25T02:30:00Z'],
  ],
  [at('0 2 * * *', 'UTC'), '2026-10-24T02:00:00Z', ['2026-10-25T02:00:00Z']],
])('%o after %s is due at %o', (schedule, after, times) => {
  const expected = times.map((time) => new Date(time));
  expect(nextDue(schedule, new Date(after))).toEqual(expected[0]);
  expect(dueTimes(schedule, new Date(after), expected.at(-1)!)).toEqual(expected);
  // However often it is looked at, between two times or at one, also while the clock is set.
  const looked: Date[] = [];
  let settled = new Date(after);
  for (let now = settled.getTime(); now <= expected.at(-1)!.getTime(); now += 10 * 60_000) {
    const due = dueTimes(schedule, settled, new Date(now));
    looked.push(...due);
    settled = due.at(-1) ?? settled;
  }
  expect(looked).toEqual(expected);
});

it('a night is due once, wherever the clock is set', () => {
  const zones = fc.constantFrom(
    'Europe/London',
    'America/New_York',
    'Australia/Lord_Howe',
    'Africa/Cairo',
    'UTC',
  );
  const property = fc.property(zones, fc.nat(23), fc.nat(59), fc.nat(700), (timezone, hour, minute, day) => {
    const schedule = at(`${minute} ${hour} * * *`, timezone);
    const from = new Date(Date.UTC(2026, 0, 1 + day));
    const dates = dueTimes(schedule, from, new Date(from.getTime() + 10 * DAY_MS)).map((time) =>
      time.toLocaleDateString('en-CA', { timeZone: timezone }),
    );
    expect(new Set(dates).size).toBe(dates.length);
    expect(dates.length).toBeGreaterThanOrEqual(9);
  });
  fc.assert(property, { numRuns: 60 });
});
