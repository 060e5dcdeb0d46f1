import { quoteForMessage, usageError, type WithOrigin } from '../usage-error.ts';

/** Whether a job starts late, once, if no scheduler ran when it was due. */
export const CATCH_UP = ['once', 'never'] as const;

/** When a scheduler starts a job. */
export interface Schedule {
  /** Five fields, or six with a leading one for seconds. */
  readonly cron: string;
  /** IANA time zone name. */
  readonly timezone: string;
  readonly catchUp: (typeof CATCH_UP)[number];
  /** How long finished runs are kept, in milliseconds; null to keep them until they are purged manually. */
  readonly keepMs: number | null;
}

/** Failure('usage') for a cron expression that the scheduler's library cannot read or that never comes due. */
export async function parseCron({ value, place }: WithOrigin<string>): Promise<string> {
  const { Cron } = await import('croner');
  let next: Date | null;
  try {
    next = new Cron(value, { mode: '5-or-6-parts', timezone: 'UTC' }).nextRun();
  } catch (error) {
    const why = error instanceof Error ? error.message.replace('CronPattern: ', '') : 'it cannot be read';
    throw usageError(place, `${quoteForMessage(value)} is not a cron expression: ${why}`, error);
  }
  if (next === null) throw usageError(place, `${quoteForMessage(value)} never comes due`);
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
