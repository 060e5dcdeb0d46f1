import { join } from 'node:path';
import { parseChainLine } from '../../record/log/chain-line.ts';
import { listEpochs } from '../../record/log/epochs.ts';
import { lastLines } from '../../record/log/last-lines.ts';
import { closedSummary } from '../../record/summary/finished-summary.ts';
import { readRunRecord } from '../../runs/open-run.ts';
import { EXIT_STATUS, runEnd } from '../../runs/run-end.ts';
import { readRunState } from '../status/run-status.ts';
import { nextDue } from './due-times.ts';
import type { ScheduledJob } from './job-folder.ts';
import { listRunsOf, newestDue, readRecord, recordPath, type ScheduleRecord } from './schedule-record.ts';

/** Maximum newest runs that are searched for the last success. */
const LOOK_AT = 20;

interface LastRun {
  readonly run: string;
  /** Absolute path. */
  readonly dir: string;
  /** Due time in ISO 8601, UTC; null if the run was started by hand. */
  readonly due: string | null;
  /** `failed` means that the run could not be started or completed. */
  readonly state: Awaited<ReturnType<typeof readRunState>> | 'failed';
  /** Exit status of the command that completed the run; null if it is not over. */
  readonly status: number | null;
  /** Why the run failed; null if it did not. */
  readonly message: string | null;
}

/** A schedule, as shown by `schedule list`. */
export interface ScheduleView {
  readonly name: string;
  readonly file: string;
  readonly cron: string;
  readonly timezone: string;
  /** How long finished runs are kept, in milliseconds; null to keep them until they are purged manually. */
  readonly keep_ms: number | null;
  /** Next due time in ISO 8601, UTC. */
  readonly next: string;
  /** Null if there was none. */
  readonly last: LastRun | null;
  /** When the last run with exit status 0 finished; null if none of the newest runs has one. */
  readonly last_success: string | null;
  /** Number of skipped times, and the last of them. */
  readonly skipped: number;
  readonly skips: ScheduleRecord['skips'];
}

/** Reads the state of a schedule from the directories of its runs and the record next to them. */
export async function viewSchedule(job: ScheduledJob, now: Date, signal: AbortSignal): Promise<ScheduleView> {
  const { name, path, out, schedule } = job;
  const runs = await listRunsOf(job);
  const found = await readRecord(recordPath(out, name));
  const record = found === 'damaged' ? null : found;
  return {
    name,
    file: path,
    cron: schedule.cron,
    timezone: schedule.timezone,
    keep_ms: schedule.keepMs,
    next: nextDue(schedule, now).toISOString(),
    last: await lastRun(job, runs, record?.failed ?? null, signal),
    last_success: await lastSuccess(out, runs),
    skipped: record?.skipped ?? 0,
    skips: record?.skips ?? [],
  };
}

async function lastRun(
  { name, out }: ScheduledJob,
  runs: readonly string[],
  failed: ScheduleRecord['failed'],
  signal: AbortSignal,
): Promise<LastRun | null> {
  const [newest] = runs;
  const run = failed !== null && (newest === undefined || failed.run >= newest) ? failed.run : newest;
  if (run === undefined) return null;
  const dir = join(out, run);
  const due = newestDue(name, [run])?.toISOString() ?? null;
  const status = await exitStatusOf(dir);
  if (status !== null) return { run, dir, due, state: 'finished', status, message: null };
  const state = run === newest ? await readRunState(dir, signal) : 'stopped';
  const { status: failure, message } = (failed?.run === run && state === 'stopped' && failed) || NONE;
  return { run, dir, due, state: failure === null ? state : 'failed', status: failure, message };
}

const NONE = { status: null, message: null };

/** Exit status of a finished run; null if it is not finished. */
async function exitStatusOf(dir: string): Promise<number | null> {
  const summary = await closedSummary(dir);
  const record = summary && (await readRunRecord(dir));
  return summary && record && EXIT_STATUS[runEnd(record.config, summary)];
}

async function lastSuccess(out: string, runs: readonly string[]): Promise<string | null> {
  for (const run of runs.slice(0, LOOK_AT)) {
    const dir = join(out, run);
    if ((await exitStatusOf(dir)) !== 0) continue;
    const line = (await lastLines(dir, (await listEpochs(dir)).at(-1)!)).at(-1);
    const closing = line && parseChainLine(line);
    return closing && 'at' in closing ? closing.at : null;
  }
  return null;
}
