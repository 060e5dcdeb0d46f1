import { quoteForMessage, usageError, type WithOrigin } from '../usage-error.ts';

/** Whether a time that passed while no scheduler was there is made up for, once. */
export const CATCH_UP = ['once', 'never'] as const;

/** When a scheduler starts a job. */
export interface Schedule {
  /** Five fields, or six with seconds in front. */
  readonly cron: string;
  /** IANA name. */
  readonly timezone: string;
  readonly catchUp: (typeof CATCH_UP)[number];
  /** How long its finished runs are kept, in milliseconds; null: until somebody purges them. */
  readonly keepMs: number | null;
}

const MIN_FIELDS = 5;
const MAX_FIELDS = 6;

/** `H` stands for another time in each process. */
const RANDOM = /(?:^|[\s,])H/;

/** Failure('usage') for a cron expression that the scheduler's library cannot read, or that never comes due. */
export async function parseCron({ value, place }: WithOrigin<string>): Promise<string> {
  const fields = value.trim().split(/\s+/).length;
  if (fields < MIN_FIELDS || fields > MAX_FIELDS || RANDOM.test(value)) {
    throw usageError(
      place,
      `expected minute, hour, day of month, month and day of week, such as "0 2 * * *", found ${quoteForMessage(value)}`,
    );
  }
  const { CronExpressionParser } = await import('cron-parser');
  try {
    CronExpressionParser.parse(value, { tz: 'UTC' }).next();
  } catch (error) {
    const why = error instanceof Error ? error.message : 'not a cron expression';
    throw usageError(place, `${quoteForMessage(value)} is not a cron expression: ${why}`, error);
  }
  return value.trim();
}

/** Failure('usage') for a time zone that this machine does not know. */
export function parseTimezone({ value, place }: WithOrigin<string>): string {
  try {
    new Intl.DateTimeFormat('en', { timeZone: value });
    return value;
  } catch (error) {
    throw usageError(
      place,
      `expected a time zone such as Europe/London or UTC, found ${quoteForMessage(value)}`,
      error,
    );
  }
}
