import { lstat, readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { RunRecord } from '../../config/run-config.ts';
import { type Purged, readPurged } from '../../record/purged.ts';
import { assertRunFolder } from '../../record/read-record.ts';
import { closedSummary } from '../../record/summary/finished-summary.ts';
import type { Summary } from '../../record/summary/summary.ts';
import { problemOf, readRunRecord } from '../../runs/open-run.ts';
import { type Hold, readHold } from '../../runs/retention/hold.ts';
import type { RunRow, RunState } from '../api/runs.ts';
import { RunFolder } from './run-folder.ts';
import { ListedRuns } from './run-list.ts';

/** A run of a folder, as listed by `runs list`. */
export interface KeptRun {
  /** Name of the run directory. */
  readonly run: string;
  readonly state: RunState;
  /** Why the run is stalled or cannot be read; null if nothing is wrong. */
  readonly problem: string | null;
  /** ISO 8601, UTC; null if the directory cannot be read. */
  readonly started: string | null;
  readonly items: number;
  /** Number of verdicts with decision review or block. */
  readonly flagged: number;
  readonly not_judged: number;
  readonly held: Hold | null;
  readonly purged: Purged | null;
  readonly bytes: number;
}

/** Returns the newest runs of a folder, and the number of older ones. */
export async function listRuns(
  folder: string,
  signal: AbortSignal,
): Promise<{ readonly runs: readonly KeptRun[]; readonly older: number }> {
  const list = new ListedRuns({ folder: new RunFolder(folder), link: () => null });
  const { rows, older } = await list.look(signal);
  const runs: KeptRun[] = [];
  for (const row of rows) runs.push(await keptRun(join(folder, row.run), row));
  return { runs, older };
}

async function keptRun(dir: string, row: RunRow): Promise<KeptRun> {
  const { run, state, created_at: started, progress } = row;
  const about = {
    ...{ run, state, started, items: progress.planned, flagged: progress.review + progress.block },
    not_judged: progress.errors,
  };
  try {
    const [held, purged, bytes] = [await readHold(dir), await readPurged(dir), await sizeOf(dir)];
    return { ...about, problem: row.problem, held, purged, bytes };
  } catch (error) {
    return { ...about, problem: row.problem ?? problemOf(error), held: null, purged: null, bytes: 0 };
  }
}

async function sizeOf(dir: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) bytes += (await lstat(join(entry.parentPath, entry.name))).size;
  }
  return bytes;
}

/** Known facts about a run: its configuration and, once it is finished, its totals. */
export interface ShownRun extends KeptRun {
  readonly dir: string;
  readonly config: Pick<RunRecord['config'], 'name' | 'sources' | 'guards' | 'policy'> | null;
  readonly summary: Summary | null;
}

/** Failure('usage') for a path that is not a run directory. */
export async function showRun(dir: string, signal: AbortSignal): Promise<ShownRun> {
  await assertRunFolder(dir);
  const list = new ListedRuns({ folder: new RunFolder(dirname(dir)), link: () => null });
  const { row } = await list.current(basename(dir), signal);
  const record = await readRunRecord(dir);
  const isOver = row.state === 'finished' || row.state === 'purged';
  return {
    ...(await keptRun(dir, row)),
    dir,
    config: record && picked(record),
    summary: isOver ? await closedSummary(dir) : null,
  };
}

function picked({ config: { name, sources, guards, policy } }: RunRecord): ShownRun['config'] {
  return { name, sources, guards, policy };
}
