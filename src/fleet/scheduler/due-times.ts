import { Cron } from 'croner';
import type { Schedule } from '../../config/values/schedule.ts';

/** The library takes 0.1 ms per time, so after a long absence only the last ones are computed. */
const MAX_TIMES = 400;
const LAST_HOUR_MS = 3_600_000;

/**
 * Returns when a schedule is next due after a time. A time of day that the clock skips is due right after the change,
 * unless it is one of several a day; one that occurs twice is due the first time.
 *
 * TRAP: in Greenland the clock skips the hour before midnight, and the library omits a night with a due time in it.
 */
export function nextDue(schedule: Schedule, after: Date): Date {
  return timesAfter(schedule, after)();
}

/**
 * Returns when a schedule was due after one time and up to another. After a very long absence, only the last times are
 * returned.
 */
export function dueTimes(schedule: Schedule, after: Date, until: Date): Date[] {
  const times: Date[] = [];
  let next = timesAfter(schedule, after);
  for (let time = next(); time <= until; time = next()) {
    times.push(time);
    if (times.length === MAX_TIMES && until.getTime() - time.getTime() > LAST_HOUR_MS) {
      next = timesAfter(schedule, new Date(until.getTime() - LAST_HOUR_MS));
    }
  }
  return times;
}

function timesAfter({ cron, timezone }: Schedule, after: Date): () => Date {
  const times = new Cron(cron, { mode: '5-or-6-parts', timezone });
  let last = after;
  // parseCron rejects schedules that never come due.
  return () => (last = times.nextRun(last)!);
}
