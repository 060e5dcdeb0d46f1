import { lstat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { RunRecord } from '../../config/run-config.ts';
import { readManifest } from '../../record/manifest/manifest.ts';
import { purgedText, readPurged } from '../../record/purged.ts';
import { finishedSummary } from '../../record/summary/finished-summary.ts';
import { readFeeder } from '../control/feed-claim.ts';
import { problemOf, readRunRecord } from '../open-run.ts';
import { purgeableFiles, purgeRun, whyHeld, type PurgeBy } from './purge-run.ts';

interface PurgeOptions extends PurgeBy {
  /** Only runs that were finished at least this long ago, in milliseconds; null for any age. */
  readonly olderThanMs: number | null;
  /** Deletes nothing, only reports what it would do. */
  readonly dryRun: boolean;
  /** Only these runs; default: all. */
  readonly belongs?: (record: RunRecord) => boolean;
  readonly signal: AbortSignal;
}

/** Result of a purge for one run; with a dry run, the expected result. */
export interface PurgeResult {
  /** Name of its directory. */
  readonly run: string;
  readonly dir: string;
  /**
   * `done`: purged before. `young`: finished too recently. `kept`: held, in use or not finished. `failed`: damaged, or
   * something cannot be deleted.
   */
  readonly outcome: 'purged' | 'done' | 'young' | 'kept' | 'failed';
  /** Why it was not purged; null if it was. */
  readonly reason: string | null;
  /** Bytes freed. */
  readonly bytes: number;
  /** Files in the directory that are not ours, and stay. */
  readonly foreign: readonly string[];
}

/**
 * Purges those finished runs in these directories that are old enough and neither held nor in use; finishes purges that
 * were interrupted. A problem with one run does not affect the others. Rejects with the signal's reason when aborted,
 * between two runs.
 */
export async function* purgeRuns(
  dirs: readonly string[],
  options: PurgeOptions,
): AsyncGenerator<PurgeResult, void> {
  for (const dir of dirs) {
    options.signal.throwIfAborted();
    const about = { run: basename(dir), dir };
    try {
      const record = await readRunRecord(dir);
      if (record !== null && options.belongs?.(record) === false) continue;
      yield { ...about, ...(await purgeOne(dir, record, options)) };
    } catch (error) {
      yield { ...about, ...notPurged('failed', problemOf(error)) };
    }
  }
}

type Purge = Omit<PurgeResult, 'run' | 'dir'>;

async function purgeOne(dir: string, record: RunRecord | null, options: PurgeOptions): Promise<Purge> {
  const { files, foreign } = await purgeableFiles(dir);
  const purged = await readPurged(dir);
  if (purged === null) {
    const refused = await refusalOf(dir, record, options);
    if (refused !== null) return refused;
  } else if (files.length === 0) return { ...notPurged('done', purgedText(purged)), foreign };
  let bytes = 0;
  // Another scheduler may be purging it as well.
  for (const path of files) bytes += (await lstat(join(dir, path)).catch(() => null))?.size ?? 0;
  const reason = options.dryRun ? null : await purgeRun(dir, options);
  return reason === null ? { outcome: 'purged', reason, bytes, foreign } : notPurged('kept', reason);
}

/** Why a run may not be purged; null if it may. */
async function refusalOf(
  dir: string,
  record: RunRecord | null,
  { olderThanMs, now }: PurgeOptions,
): Promise<Purge | null> {
  if (record === null) return notPurged('failed', 'it is damaged: its run.json cannot be read');
  if ((await readFeeder(dir))?.alive === true) return notPurged('kept', 'a process works on it');
  if ((await finishedSummary(dir)) === null) return notPurged('kept', 'it is not finished, or is damaged');
  const { finished_at } = await readManifest(dir);
  const age = now.getTime() - Date.parse(finished_at);
  if (olderThanMs !== null && !(age >= olderThanMs)) {
    return notPurged('young', `it was finished on ${finished_at.slice(0, 10)}`);
  }
  const held = await whyHeld(dir);
  return held === null ? null : notPurged('kept', held);
}

function notPurged(outcome: Exclude<PurgeResult['outcome'], 'purged'>, reason: string): Purge {
  return { outcome, reason, bytes: 0, foreign: [] };
}
