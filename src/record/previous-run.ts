import { basename, dirname, join } from 'node:path';
import type { RunRecord } from '../config/run-config.ts';
import { listFolder } from '../files/folders.ts';
import { readRecord } from './read-record.ts';
import { finishedSummary } from './summary/finished-summary.ts';
import type { Summary } from './summary/summary.ts';

/** Maximum run directories to examine, newest first. */
const MAX_LOOKED_AT = 200;

/** Names of run directories begin with their creation time. */
const RUN_NAME = /^\d{8}T\d{6}Z-/;

/** A finished run to compare another run with. */
export interface FinishedBefore {
  readonly dir: string;
  readonly record: RunRecord;
  readonly summary: Summary;
}

/**
 * Finds the latest finished run before this one in the same folder with the same name and the same sources; null if
 * there is none. Skips runs that cannot be read.
 */
export async function findPreviousRun(
  runDir: string,
  record: RunRecord,
  signal: AbortSignal,
): Promise<FinishedBefore | null> {
  const folder = dirname(runDir);
  const own = basename(runDir);
  const names = await listFolder(folder).catch(() => []);
  const earlier = names.filter((name) => RUN_NAME.test(name) && name < own).sort();
  for (const name of earlier.reverse().slice(0, MAX_LOOKED_AT)) {
    signal.throwIfAborted();
    const dir = join(folder, name);
    const before = await readRecord(dir).catch(() => null);
    if (before === null || !isSameJob(before, record)) continue;
    const summary = await finishedSummary(dir);
    if (summary !== null) return { dir, record: before, summary };
  }
  return null;
}

function isSameJob({ config: a }: RunRecord, { config: b }: RunRecord): boolean {
  const paths = ({ sources }: RunRecord['config']): string => JSON.stringify(sources.map(({ path }) => path));
  return a.name === b.name && paths(a) === paths(b);
}
