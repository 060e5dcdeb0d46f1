import type { Say } from '../src/domain/say.ts';
import type { RedisAddress } from '../src/config/values/redis-url.ts';
import type { ScheduledJob } from '../src/fleet/scheduler/job-folder.ts';
import { Scheduler } from '../src/fleet/scheduler/scheduler.ts';
import { viewSchedule } from '../src/fleet/scheduler/view-schedule.ts';
import type { MetricsAddress } from '../src/http/metrics-server.ts';
import { RedisLink } from '../src/queue/redis/link.ts';
import { WakeUps } from '../src/queue/redis/wake-ups.ts';
import { Opened } from './opened.ts';
import { schedulerMetrics } from './scheduler-metrics.ts';
import { serveObserved, untilDrained, type Service } from './service.ts';

/** Interval for checking the folder and the clock, in addition to the wake-ups, in milliseconds. */
const POLL_MS = 5000;

interface SchedulerServiceOptions {
  readonly redis: RedisAddress;
  /** Timeout for connecting to Redis, in milliseconds. */
  readonly startWaitMs: number;
  /** Absolute folder of the job files. */
  readonly folder: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Creates a run with a directory of this name and completes it; resolves to the exit status. */
  readonly start: (job: ScheduledJob, runId: string) => Promise<number>;
  /** Completes an unfinished run; resolves to the exit status. */
  readonly resume: (job: ScheduledJob, dir: string) => Promise<number>;
  /** Null if metrics are not served. */
  readonly metrics: MetricsAddress | null;
  readonly say: Say;
}

/** A scheduler: starts the runs of job files when they are due, until it is drained. */
export const scheduler: Service<SchedulerServiceOptions> = (options, ending) =>
  untilDrained(ending, () => run(options, ending));

const run: Service<SchedulerServiceOptions> = async (options, { drain }) => {
  const { folder, cwd, env, start, resume, say } = options;
  const opened = new Opened();
  try {
    let wakeUps: WakeUps | null = null;
    const { metrics, skipped, purgeFailed } = schedulerMetrics(() =>
      Promise.all(schedules.jobs.map((job) => viewSchedule(job, new Date(), drain))),
    );
    const schedules = new Scheduler({
      ...{ folder, cwd, env, fleet: true, now: () => new Date() },
      ...{ start, resume, skipped, purgeFailed, say, signal: drain },
      changed: () => setWakeUps(),
    });
    const setWakeUps = (): void =>
      wakeUps?.set(new Map(schedules.jobs.map(({ name, schedule }) => [name, schedule])));
    await schedules.open();
    const link = await RedisLink.open(options.redis, {
      say,
      signal: drain,
      startTimeoutMs: options.startWaitMs,
    });
    opened.closedBy(() => link.close());
    await serveObserved({ opened, metrics, link, address: options.metrics, needs: {}, say });
    const poll = (): void => void schedules.poll().catch(() => {});
    wakeUps = new WakeUps(link, poll, drain);
    opened.closedBy(() => wakeUps?.close());
    const names = schedules.jobs.map(({ name }) => name).join(', ') || 'nothing yet';
    say(`scheduler starts what is due in ${folder}: ${names}`, { event: 'started' });
    setWakeUps();
    const timer = setInterval(poll, POLL_MS);
    opened.closedBy(() => clearInterval(timer));
    poll();
    await aborted(drain);
    await schedules.ended();
  } finally {
    await opened.close();
  }
};

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
