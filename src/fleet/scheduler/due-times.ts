import { CronExpressionParser } from 'cron-parser';
import type { Schedule } from '../../config/values/schedule.ts';

/** The library takes 0.1 ms for each time: after a long absence only the last ones are looked at. */
const MAX_TIMES = 400;
const LAST_HOUR_MS = 3_600_000;

/**
 * When a schedule is due next after a time. A local time that the clock skips is due when it would have been
 * (02:30 becomes 03:30), and one that comes twice is due the first time.
 *
 * TRAP: only `next` of the library is right about that, and only from a time before the clock was set back or from a time
 * that was due; its `prev` skips the first case and repeats the second.
 */
export function nextDue(schedule: Schedule, after: Date): Date {
  return timesAfter(schedule, after)();
}

/** When a schedule was due after a time, up to another. After a very long absence, only the last times are returned. */
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

function timesAfter({ cron, timezone }: Schedule, currentDate: Date): () => Date {
  const times = CronExpressionParser.parse(cron, { currentDate, tz: timezone });
  return () => times.next().toDate();
}
