import { join } from 'node:path';
import { problemOf } from '../../runs/open-run.ts';
import { purgeRuns } from '../../runs/retention/purge-runs.ts';
import type { ScheduledJob } from './job-folder.ts';
import { listRunsOf } from './schedule-record.ts';

/** Interval at which a schedule's old runs are looked for, in addition to after each of its runs. */
const EVERY_MS = 3_600_000;

interface OldRunsOptions {
  readonly now: () => Date;
  readonly purged: (name: string, run: string) => void;
  /** `path` is the directory of a run, or the folder of the runs if it cannot be read. */
  readonly failed: (name: string, path: string, reason: string) => void;
  readonly signal: AbortSignal;
}

/**
 * Purges the finished runs of schedules once they are older than `schedule.keep`, in the background, because deleting may
 * take longer than a schedule can wait.
 */
export class OldRuns {
  readonly #options: OldRunsOptions;
  /** Start of the last purge of a schedule's runs, in milliseconds since 1970. */
  readonly #began = new Map<string, number>();
  readonly #purging = new Map<string, Promise<void>>();

  constructor(options: OldRunsOptions) {
    this.#options = options;
  }

  /** Starts a purge, unless one was started within the last hour. */
  look(job: ScheduledJob): void {
    const last = this.#began.get(job.name) ?? -Infinity;
    if (this.#options.now().getTime() - last >= EVERY_MS) this.purge(job);
  }

  /** Starts a purge, unless one is in progress. */
  purge(job: ScheduledJob): void {
    const { name, out, schedule } = job;
    if (schedule.keepMs === null || this.#purging.has(name)) return;
    const { now, failed, signal } = this.#options;
    this.#began.set(name, now().getTime());
    const purging = this.#purge(job, schedule.keepMs)
      .catch((error: unknown) => {
        if (!signal.aborted) failed(name, out, problemOf(error));
      })
      .finally(() => this.#purging.delete(name));
    this.#purging.set(name, purging);
  }

  /** Resolves when no purge is in progress. */
  async ended(): Promise<void> {
    await Promise.all(this.#purging.values());
  }

  async #purge(job: ScheduledJob, olderThanMs: number): Promise<void> {
    const { name, out } = job;
    const { now, purged, failed, signal } = this.#options;
    const dirs = (await listRunsOf(job)).map((run) => join(out, run)).reverse();
    const results = purgeRuns(dirs, {
      ...{ by: `schedule ${name}`, now: now(), olderThanMs, dryRun: false, signal },
      belongs: ({ config }) => config.name === name,
    });
    for await (const { run, dir, outcome, reason } of results) {
      if (outcome === 'purged') purged(name, run);
      if (outcome === 'failed') failed(name, dir, reason ?? '');
    }
  }
}
