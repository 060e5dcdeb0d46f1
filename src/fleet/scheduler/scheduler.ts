import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import type { LogFields, Say } from '../../domain/say.ts';
import { readRunState } from '../status/run-status.ts';
import { dueTimes, nextDue } from './due-times.ts';
import { type JobContext, readJobFolder, type ScheduledJob } from './job-folder.ts';
import { OldRuns } from './old-runs.ts';
import {
  fedRun,
  listRunsOf,
  newestDue,
  newRecord,
  readRecord,
  recordPath,
  scheduledRunId,
  type ScheduleRecord,
  type SkipReason,
  withSkips,
  writeRecord,
} from './schedule-record.ts';

/** A run that begins later than this after its due time counts as late. */
const LATE_MS = 60_000;
/** Delay before a run that could not be started is tried again. */
const TRY_AGAIN_MS = 60_000;

const FAILED: LogFields = { level: 'error', event: 'schedule_failed' };

interface SchedulerOptions extends JobContext {
  /** Absolute folder of the job files. */
  readonly folder: string;
  readonly now: () => Date;
  /** Creates a run with a directory of this name and completes it; resolves to the exit status. */
  readonly start: (job: ScheduledJob, runId: string) => Promise<number>;
  /** Completes an unfinished run; resolves to the exit status. */
  readonly resume: (job: ScheduledJob, dir: string) => Promise<number>;
  /** Called whenever the schedules have changed. */
  readonly changed: (jobs: readonly ScheduledJob[]) => void;
  readonly skipped: (name: string, reason: SkipReason, times: number) => void;
  /** Called when an old run of a schedule cannot be purged. */
  readonly purgeFailed: (name: string) => void;
  readonly say: Say;
  readonly signal: AbortSignal;
}

/** The work on a run of a schedule in this process. */
interface Work {
  readonly due: Date;
  readonly done: Promise<void>;
}

/**
 * Starts the runs of job files when they are due. What is due follows from the run directories and the records next to
 * them, so a scheduler can die at any time: a time is settled by the run directory named after it, which only one
 * process can create, once.
 */
export class Scheduler {
  readonly #options: SchedulerOptions;
  #jobs: ReadonlyMap<string, ScheduledJob> = new Map();
  /** The last message about each job file, schedule or the folder, to print it only once. */
  readonly #said = new Map<string, string>();
  /** Runs that need not be resumed. */
  readonly #over = new Set<string>();
  readonly #working = new Map<string, Work>();
  readonly #oldRuns: OldRuns;
  #polling: Promise<void> | null = null;

  constructor(options: SchedulerOptions) {
    this.#options = options;
    const { now, say, purgeFailed, signal } = options;
    this.#oldRuns = new OldRuns({
      ...{ now, signal },
      purged: (name, run) => say(`schedule ${name}: purged ${run}`, { event: 'run_purged', run }),
      failed: (name, path, reason) => {
        purgeFailed(name);
        const run = basename(path);
        const fields = { level: 'warn', event: 'purge_failed', run } as const;
        this.#sayOnce(path, `schedule ${name}: ${run} is not purged: ${reason}`, fields);
      },
    });
  }

  /** Reads the folder for the first time. Failure('usage') for the first mistake in a job file. */
  async open(): Promise<void> {
    const { folder } = this.#options;
    this.#jobs = await readJobFolder(folder, this.#options, (_, mistake) => {
      throw mistake;
    });
    this.#describe(this.jobs);
  }

  /** The most recently read schedules. */
  get jobs(): readonly ScheduledJob[] {
    return [...this.#jobs.values()];
  }

  /**
   * Reads the folder again, starts runs that are due, and resumes those that a scheduler left unfinished. Resolves when
   * that has begun. A call during another one waits for that one.
   */
  poll(): Promise<void> {
    this.#polling ??= this.#poll().finally(() => (this.#polling = null));
    return this.#polling;
  }

  /** Resolves when the runs that this process works on have ended and old ones are purged. */
  async ended(): Promise<void> {
    await this.#polling;
    await Promise.all([...this.#working.values()].map(({ done }) => done));
    await this.#oldRuns.ended();
  }

  async #poll(): Promise<void> {
    try {
      await this.#readFolder();
    } catch (error) {
      this.#sayOnce(this.#options.folder, describeError(error));
    }
    for (const job of this.#jobs.values()) {
      this.#options.signal.throwIfAborted();
      try {
        this.#oldRuns.look(job);
        await this.#look(job);
        this.#said.delete(job.name);
      } catch (error) {
        if (this.#options.signal.aborted) throw error;
        this.#sayOnce(job.name, `schedule ${job.name}: ${describeError(error)}`);
      }
    }
  }

  /** A file with a mistake keeps its previous schedule. */
  async #readFolder(): Promise<void> {
    const { folder, changed, say } = this.#options;
    const kept: ScheduledJob[] = [];
    const jobs = await readJobFolder(folder, this.#options, (path, mistake) => {
      this.#sayOnce(path, mistake.message);
      kept.push(...this.jobs.filter((job) => job.path === path));
    });
    for (const { path } of jobs.values()) this.#said.delete(path);
    for (const job of kept) if (!jobs.has(job.name)) jobs.set(job.name, job);
    const before = this.#jobs;
    this.#jobs = jobs;
    for (const { name, out } of before.values()) {
      if (jobs.has(name)) continue;
      say(`schedule ${name} is removed`, { event: 'schedule_removed' });
      await rm(recordPath(out, name), { force: true });
    }
    const isNew = ({ name, schedule }: ScheduledJob): boolean => {
      const earlier = before.get(name)?.schedule;
      return earlier?.cron !== schedule.cron || earlier.timezone !== schedule.timezone;
    };
    const news = this.jobs.filter(isNew);
    this.#describe(news);
    if (news.length > 0 || before.size !== jobs.size) changed(this.jobs);
  }

  #describe(jobs: readonly ScheduledJob[]): void {
    for (const job of jobs) {
      const { cron, timezone } = job.schedule;
      const next = isoTime(nextDue(job.schedule, this.#options.now()));
      this.#say(job, `due at ${cron} (${timezone}), next ${next}`, { event: 'schedule_set' });
    }
  }

  #say({ name }: ScheduledJob, message: string, fields: LogFields): void {
    this.#options.say(`schedule ${name}: ${message}`, fields);
  }

  #sayOnce(path: string, message: string, fields: LogFields = FAILED): void {
    if (this.#said.get(path) === message) return;
    this.#said.set(path, message);
    this.#options.say(message, fields);
  }

  async #look(job: ScheduledJob): Promise<void> {
    const now = this.#options.now();
    const runs = await listRunsOf(job);
    const record = await this.#currentRecord(job, runs, now);
    if (!this.#working.has(job.name)) await this.#resumeLast(job, runs, record);
    const working = this.#working.get(job.name);
    const settled = new Date(Math.max(Date.parse(record.settled), working?.due.getTime() ?? 0));
    const due = dueTimes(job.schedule, settled, now);
    const latest = due.at(-1);
    if (latest === undefined) return;
    const isBusy = working !== undefined || (await fedRun(job, runs)) !== null;
    const isLate = now.getTime() - latest.getTime() > LATE_MS;
    if (isBusy || (isLate && job.schedule.catchUp === 'never')) {
      return this.#skip(job, record, due, isBusy ? 'overlap' : 'missed');
    }
    const runId = scheduledRunId(job.name, latest);
    const { failed } = record;
    if (failed?.run === runId && now.getTime() - Date.parse(failed.at) < TRY_AGAIN_MS) return;
    if (due.length > 1) await this.#skip(job, record, due.slice(0, -1), 'missed');
    this.#say(job, `starting the run of ${isoTime(latest)}`, { event: 'run_started', run: runId });
    this.#work(job, { due: latest, run: runId }, () => this.#options.start(job, runId));
  }

  async #skip(
    job: ScheduledJob,
    record: ScheduleRecord,
    due: readonly Date[],
    reason: SkipReason,
  ): Promise<void> {
    await writeRecord(recordPath(job.out, job.name), withSkips(record, due, reason));
    this.#options.skipped(job.name, reason, due.length);
    const last = isoTime(due.at(-1)!);
    const times = due.length === 1 ? last : `${due.length} times up to ${last}`;
    const fields = { level: 'warn', event: 'schedule_skipped', code: reason } as const;
    this.#say(job, `skipped ${times}, ${SKIP_WORDS[reason]}`, fields);
  }

  /**
   * Returns the record of a schedule. A new or changed schedule begins now. Times with a run directory are settled,
   * even if the scheduler that created it died before it recorded that.
   */
  async #currentRecord(job: ScheduledJob, runs: readonly string[], now: Date): Promise<ScheduleRecord> {
    const { name, out, schedule } = job;
    const found = await readRecord(recordPath(out, name));
    const newest = newestDue(name, runs);
    let record =
      found === 'damaged' ? newRecord(schedule, newest ?? now) : (found ?? newRecord(schedule, now));
    if (record.cron !== schedule.cron || record.timezone !== schedule.timezone) {
      record = { ...record, ...newRecord(schedule, now), skipped: record.skipped, skips: record.skips };
    }
    if (newest !== null && newest > new Date(record.settled))
      record = { ...record, settled: newest.toISOString() };
    if (record !== found) await writeRecord(recordPath(out, name), record);
    return record;
  }

  /** Resumes the last scheduled run if it has no feeder and is not over, because the scheduler that started it died. */
  async #resumeLast(job: ScheduledJob, runs: readonly string[], { failed }: ScheduleRecord): Promise<void> {
    const due = newestDue(job.name, runs);
    if (due === null) return;
    const run = scheduledRunId(job.name, due);
    if (this.#over.has(run) || failed?.run === run) return;
    const dir = join(job.out, run);
    const state = await readRunState(dir, this.#options.signal).catch((error: unknown) => {
      if (!(error instanceof Failure)) throw error;
      if (error.kind === 'purged') return 'purged';
      const fields = { level: 'error', event: 'run_failed', run, code: String(error.exitStatus) } as const;
      this.#say(job, `${run} is not resumed: ${error.message}`, fields);
      return 'unreadable';
    });
    if (state === 'running' || state === 'paused') return;
    if (state !== 'stopped') return void this.#over.add(run);
    this.#say(job, `resuming ${run}`, { event: 'run_resumed', run });
    this.#work(job, { due, run }, () => this.#options.resume(job, dir));
  }

  #work(
    job: ScheduledJob,
    { due, run }: { readonly due: Date; readonly run: string },
    work: () => Promise<number>,
  ): void {
    const done = work()
      .then((status) => {
        this.#over.add(run);
        const level = status === 0 ? 'info' : 'warn';
        const fields = { level, event: 'run_ended', run, code: String(status) } as const;
        this.#say(job, `${run} ended with status ${status}`, fields);
      })
      .catch((error: unknown) => this.#noteFailure(job, run, error))
      .catch((error: unknown) => this.#sayOnce(job.name, `schedule ${job.name}: ${describeError(error)}`))
      .finally(() => {
        this.#working.delete(job.name);
        const current = this.#jobs.get(job.name);
        if (current !== undefined) this.#oldRuns.purge(current);
      });
    this.#working.set(job.name, { due, done });
  }

  /**
   * An interrupted run is resumed by the next scheduler. A run that another process took over is left to that process.
   */
  async #noteFailure(job: ScheduledJob, run: string, error: unknown): Promise<void> {
    if (error instanceof Failure && (error.kind === 'interrupted' || error.kind === 'superseded')) return;
    const message = describeError(error);
    const status = error instanceof Failure ? error.exitStatus : 1;
    const fields = { level: 'error', event: 'run_failed', run, code: String(status) } as const;
    this.#say(job, `${run}: ${message}`, fields);
    const path = recordPath(job.out, job.name);
    const record = await readRecord(path);
    if (record === null || record === 'damaged') return;
    const failed = { run, at: this.#options.now().toISOString(), status, message };
    await writeRecord(path, { ...record, failed });
  }
}

const SKIP_WORDS: Readonly<Record<SkipReason, string>> = {
  overlap: 'because the run before is not over',
  missed: 'when no scheduler was running',
};

function isoTime(time: Date): string {
  return time.toISOString().replace('.000Z', 'Z');
}

/** Messages of foreign errors can quote content. */
function describeError(error: unknown): string {
  return error instanceof Failure ? error.message : 'unexpected error';
}
