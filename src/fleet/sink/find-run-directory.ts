import { realpath } from 'node:fs/promises';
import { join, sep } from 'node:path';
import type { RunRecord } from '../../config/run-config.ts';
import { isRunId } from '../../config/values/run-name.ts';
import type { FleetRun } from '../redis/fleet-runs.ts';
import { readRunRecord } from '../../runs/open-run.ts';

/** A run directory, located on this machine. */
export interface FoundRun {
  readonly dir: string;
  readonly record: RunRecord;
}

/**
 * Finds the directory of a run below one of the folders that a sink may write to: at the path that its feeder
 * announced, or, if that is mounted elsewhere, under the run's name directly below such a folder. Null if it is in
 * neither place.
 */
export async function findRunDirectory(
  { run, dir }: FleetRun,
  roots: readonly string[],
): Promise<FoundRun | null> {
  // The name becomes part of a path.
  if (!isRunId(run)) return null;
  for (const root of roots) {
    const folder = await realpath(root).catch(() => null);
    if (folder === null) continue;
    for (const candidate of [dir, join(folder, run)]) {
      const real = await realpath(candidate).catch(() => null);
      if (real === null || !real.startsWith(folder + sep)) continue;
      const record = await readRunRecord(real);
      if (record?.run === run) return { dir: real, record };
    }
  }
  return null;
}
