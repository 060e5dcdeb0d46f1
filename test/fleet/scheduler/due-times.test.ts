import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Schedule } from '../../../src/config/values/schedule.ts';
import { dueTimes, nextDue } from '../../../src/fleet/scheduler/due-times.ts';

const at = (cron: string, timezone: string): Schedule => ({ cron, timezone, catchUp: 'once', keepMs: null });
const DAY_MS = 86_400_000;

it.each([
  // 02:30 does not exist on the night of 29 March in Berlin: it is due as soon as the clock was set, at 03:00.
  ['30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', '2026-03-29T01:00:00Z 2026-03-30T00:30:00Z'],
  // Of several times a day, one that the clock skips is left out.
  ['30 2,14 * * *', 'Europe/Berlin', '2026-03-28T14:00:00Z', '2026-03-29T12:30:00Z'],
  // 01:30 exists twice on the night of 25 October in London: it is due the first time.
  ['30 1 * * *', 'Europe/London', '2026-10-24T12:00:00Z', '2026-10-25T00:30:00Z 2026-10-26T01:30:00Z'],
  // Every hour goes on every hour.
  [
    '30 * * * *',
    'Europe/London',
    '2026-10-24T23:40:00Z',
    '2026-10-25T00:30:00Z 2026-10-25T01:30:00Z 2026-10-25T02:30:00Z',
  ],
  ['0 2 * * *', 'UTC', '2026-10-24T02:00:00Z', '2026-10-25T02:00:00Z'],
])('%s in %s after %s is due at %s', (cron, timezone, after, times) => {
  const schedule = at(cron, timezone);
  const expected = times.split(' ').map((time) => new Date(time));
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

/** When the offset of a time zone changes in a year, to the day. */
function clockChanges(timezone: string, year: number): readonly Date[] {
  const format = new Intl.DateTimeFormat('en', { timeZone: timezone, timeZoneName: 'longOffset' });
  const offset = (time: Date): string =>
    format.formatToParts(time).find(({ type }) => type === 'timeZoneName')!.value;
  const days = Array.from({ length: 366 }, (_, day) => new Date(Date.UTC(year, 0, day)));
  return days.filter((day) => offset(day) !== offset(new Date(day.getTime() + DAY_MS)));
}

// Clocks that are set at midnight, by half an hour, by two hours, before midnight, and at 02:45.
it.each([
  'Africa/Cairo',
  'America/Havana',
  'America/New_York',
  'America/Santiago',
  'Antarctica/Troll',
  'Asia/Beirut',
  'Atlantic/Azores',
  'Australia/Lord_Howe',
  'Europe/London',
  'Pacific/Chatham',
])('a night is due once, whenever it is, as the clock is set in %s', (timezone) => {
  const changes = clockChanges(timezone, 2026);
  expect(changes).toHaveLength(2);
  const property = fc.property(
    fc.constantFrom(...changes),
    fc.nat(23),
    fc.constantFrom(0, 15, 30, 59),
    (change, hour, minute) => {
      const from = new Date(change.getTime() - 3 * DAY_MS);
      const to = new Date(from.getTime() + 7 * DAY_MS);
      const times = dueTimes(at(`${minute} ${hour} * * *`, timezone), from, to);
      const dates = times.map((time) => time.toLocaleDateString('en-CA', { timeZone: timezone }));
      expect(dates.length).toBeGreaterThanOrEqual(6);
      const nights = (Date.parse(dates.at(-1)!) - Date.parse(dates[0]!)) / DAY_MS;
      expect([new Set(dates).size, nights + 1]).toEqual([dates.length, dates.length]);
    },
  );
  fc.assert(property, { numRuns: 60 });
});
