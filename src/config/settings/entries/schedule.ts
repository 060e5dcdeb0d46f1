import { parseAge } from '../../values/quantities.ts';
import { CATCH_UP, parseCron, parseTimezone } from '../../values/schedule.ts';
import { choice, single } from '../kinds.ts';
import { setting } from '../setting.ts';

export const SCHEDULE_CRON = setting({
  key: 'schedule.cron',
  help: 'when a scheduler starts the job, as a cron expression: minute, hour, day of month, month, day of week',
  keyNote: 'six fields begin with seconds',
  kind: single('expression', parseCron),
  unset: 'it is started by hand',
});

export const SCHEDULE_TIMEZONE = setting({
  key: 'schedule.timezone',
  help: 'time zone of `schedule.cron`, such as `Europe/London`',
  kind: single('zone', parseTimezone),
  default: 'UTC',
});

export const SCHEDULE_CATCH_UP = setting({
  key: 'schedule.catchUp',
  help: 'when no scheduler ran at a due time: start the job late, once (`once`), or wait for the next time (`never`)',
  kind: choice('when', CATCH_UP),
  default: 'once',
});

export const SCHEDULE_KEEP = setting({
  key: 'schedule.keep',
  help: 'how long finished runs of the job are kept, such as `30d`: the scheduler purges older ones, unless they are held',
  kind: single('age', parseAge),
  unset: 'nothing is purged',
});
