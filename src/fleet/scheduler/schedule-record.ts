import { hash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { isRunId } from '../../config/values/run-name.ts';
import type { Schedule } from '../../config/values/schedule.ts';
import { makeFolders, replaceDurably } from '../../files/durable-write.ts';
import { readWholeFile } from '../../files/open-file.ts';
import { readFeeder } from '../../runs/control/feed-claim.ts';
import { compactStamp } from '../../runs/create-run.ts';

/** Maximum skipped times kept with their reason. */
const MAX_SKIPS = 20;
const MAX_BYTES = 65_536;
/** Maximum number of a schedule's newest runs that are checked for being in progress. */
const LOOK_AT = 20;

/** Why a time was skipped: the previous run was not over, or no scheduler was running. */
export type SkipReason = 'overlap' | 'missed';

const TIME = z.iso.datetime();

const RECORD = z.object({
  cron: z.string(),
  timezone: z.string(),
  /** Nothing up to this time is due any more. */
  settled: TIME,
  /** Number of skipped times, and the last of them, oldest first. */
  skipped: z.int(),
  skips: z.array(z.object({ due: TIME, reason: z.enum(['overlap', 'missed']) })),
  /** The last run that could not be started or completed. */
  failed: z.object({ run: z.string(), at: TIME, status: z.int(), message: z.string() }).nullable(),
});

/**
 * The part of a schedule's state that its run directories do not show. It is stored next to them, because Redis may
 * lose everything.
 */
export type ScheduleRecord = z.infer<typeof RECORD>;

export function newRecord({ cron, timezone }: Schedule, settled: Date): ScheduleRecord {
  return { cron, timezone, settled: settled.toISOString(), skipped: 0, skips: [], failed: null };
}

/** Adds skipped times, in ascending order, to a record; they are then settled. */
export function withSkips(record: ScheduleRecord, due: readonly Date[], reason: SkipReason): ScheduleRecord {
  const skips = [...record.skips, ...due.map((time) => ({ due: time.toISOString(), reason }))];
  const settled = due.at(-1)?.toISOString() ?? record.settled;
  return { ...record, settled, skipped: record.skipped + due.length, skips: skips.slice(-MAX_SKIPS) };
}

/** Path of a schedule's record, from the folder of its runs and its name. */
export function recordPath(out: string, name: string): string {
  return join(out, '.schedules', `${name}.json`);
}

/** Reads a record. Null if there is none; `damaged` if it cannot be read. */
export async function readRecord(path: string): Promise<ScheduleRecord | 'damaged' | null> {
  try {
    const bytes = await readWholeFile(path, { maxBytes: MAX_BYTES, links: 'refuse' });
    return RECORD.parse(JSON.parse(bytes.toString()));
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? null : 'damaged';
  }
}

export async function writeRecord(path: string, record: ScheduleRecord): Promise<void> {
  await makeFolders(join(path, '..'));
  await replaceDurably(path, `${JSON.stringify(record)}\n`, `${path}.${process.pid}`);
}

/**
 * Name of the run directory for a due time of a schedule. Creating this directory decides that the run was started:
 * only one process can do it, once.
 */
export function scheduledRunId(name: string, due: Date): string {
  const stamp = compactStamp(due);
  return `${stamp}-${name}-${hash('sha256', `${name} ${stamp}`).slice(0, 4)}`;
}

const STAMP_LENGTH = '20261121T020000Z-'.length;
const SUFFIX_LENGTH = '-ab12'.length;

/** Lists the names of a schedule's run directories, newest first, including runs that were started by hand. */
export async function listRunsOf({
  name,
  out,
}: {
  readonly name: string;
  readonly out: string;
}): Promise<string[]> {
  const names = await readdir(out).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const isOf = (run: string): boolean => isRunId(run) && run.slice(STAMP_LENGTH, -SUFFIX_LENGTH) === name;
  return names.filter(isOf).sort().reverse();
}

/** The latest due time that has a run directory; null if there is none. `runs` as returned by `listRunsOf`. */
export function newestDue(name: string, runs: readonly string[]): Date | null {
  for (const run of runs) {
    const due = new Date(run.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z.*$/s, '$1-$2-$3T$4:$5:$6Z'));
    if (!Number.isNaN(due.getTime()) && scheduledRunId(name, due) === run) return due;
  }
  return null;
}

/**
 * Finds a run of a schedule that a process is feeding, including one that was started by hand; null if there is none.
 */
export async function fedRun(
  schedule: { readonly name: string; readonly out: string },
  runs?: readonly string[],
): Promise<string | null> {
  for (const run of (runs ?? (await listRunsOf(schedule))).slice(0, LOOK_AT)) {
    if ((await readFeeder(join(schedule.out, run)))?.alive === true) return run;
  }
  return null;
}
