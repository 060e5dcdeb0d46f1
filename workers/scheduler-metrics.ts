import type { ScheduleView } from '../src/fleet/scheduler/view-schedule.ts';
import { Metrics } from '../src/metrics/metrics.ts';

interface SchedulerMetrics {
  readonly metrics: Metrics;
  readonly skipped: (name: string, reason: string, times: number) => void;
  readonly purgeFailed: (name: string) => void;
}

/**
 * A scheduler's metrics for each schedule: last success, status of the last run, next time, skipped times, failed
 * purges.
 */
export function schedulerMetrics(view: () => Promise<readonly ScheduleView[]>): SchedulerMetrics {
  const metrics = new Metrics();
  metrics.gaugesBy({
    label: 'schedule',
    look: async () => new Map((await view()).map((schedule) => [schedule.name, schedule])),
    values: {
      guardsweep_schedule_last_success_timestamp_seconds: ({ last_success: at }) =>
        at === null ? null : Date.parse(at) / 1000,
      guardsweep_schedule_last_status: ({ last }) => last && last.status,
      guardsweep_schedule_next_timestamp_seconds: ({ next }) => Date.parse(next) / 1000,
    },
  });
  const skipped = metrics.counter('guardsweep_schedule_skipped_total');
  const purgeFailures = metrics.counter('guardsweep_schedule_purge_failures_total');
  return {
    metrics,
    skipped: (schedule, reason, times) => skipped.inc({ schedule, reason }, times),
    purgeFailed: (schedule) => purgeFailures.inc({ schedule }),
  };
}
