import { Counter, Gauge, Registry } from 'prom-client';
import type { ScheduleView } from '../src/fleet/scheduler/view-schedule.ts';

interface SchedulerMetrics {
  readonly registry: Registry;
  readonly skipped: (name: string, reason: string, times: number) => void;
  readonly purgeFailed: (name: string) => void;
}

/** A scheduler's metrics for each schedule: last success, status of the last run, next time, skipped times, failed purges. */
export function schedulerMetrics(view: () => Promise<readonly ScheduleView[]>): SchedulerMetrics {
  const registry = new Registry();
  const registers = [registry];
  const labelNames = ['schedule'];
  // All gauges of a scrape share one look.
  let looking: Promise<readonly ScheduleView[]> | null = null;
  const look = (): Promise<readonly ScheduleView[]> => (looking ??= view().finally(() => (looking = null)));
  const gauge = (name: string, help: string, valueOf: (schedule: ScheduleView) => number | null): void => {
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      async collect() {
        this.reset();
        for (const schedule of await look()) {
          const value = valueOf(schedule);
          if (value !== null) this.set({ schedule: schedule.name }, value);
        }
      },
    });
  };
  gauge(
    'guardsweep_schedule_last_success_timestamp_seconds',
    'When the last run of a schedule that ended with status 0 was finished',
    ({ last_success: at }) => (at === null ? null : Date.parse(at) / 1000),
  );
  gauge(
    'guardsweep_schedule_last_status',
    'Exit status of the last run of a schedule; absent while it is not over',
    ({ last }) => last && last.status,
  );
  gauge(
    'guardsweep_schedule_next_timestamp_seconds',
    'When a schedule is due next',
    ({ next }) => Date.parse(next) / 1000,
  );
  const skipped = new Counter({
    name: 'guardsweep_schedule_skipped_total',
    help: 'Times of a schedule without a run, by reason: overlap, missed',
    labelNames: [...labelNames, 'reason'],
    registers,
  });
  const purgeFailures = new Counter({
    name: 'guardsweep_schedule_purge_failures_total',
    help: 'Times that an old run of a schedule could not be purged',
    labelNames,
    registers,
  });
  return {
    registry,
    skipped: (schedule, reason, times) => skipped.inc({ schedule, reason }, times),
    purgeFailed: (schedule) => purgeFailures.inc({ schedule }),
  };
}
