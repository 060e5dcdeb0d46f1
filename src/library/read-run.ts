import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { RunRecord } from '../config/run-config.ts';
import { RUN_FILES } from '../files/run-files.ts';
import { readManifest, type Manifest } from '../record/manifest/manifest.ts';
import { assertRunDirectory, readRecord } from '../record/read-record.ts';
import { finishedSummary } from '../record/summary/finished-summary.ts';
import type { Summary } from '../record/summary/summary.ts';

/** The contents of a run directory. */
export interface RunDirectory {
  /** Absolute. */
  readonly dir: string;
  /** run.json: the frozen configuration. */
  readonly record: RunRecord;
  /** summary.json; null while the run is not finished. */
  readonly summary: Summary | null;
  /** manifest.json of the last finished pass; null if there is none yet. */
  readonly manifest: Manifest | null;
}

/**
 * Reads a run directory, and checks its format and the hash of its manifest. It does not check the verdicts against the
 * log, as `guardsweep verify` does. Rejects with a Failure: `usage` for a directory that is not a run directory,
 * `purged` for a run that was purged, `internal` for a damaged one.
 */
export async function readRun(dir: string): Promise<RunDirectory> {
  const runDir = resolve(dir);
  await assertRunDirectory(runDir);
  const record = await readRecord(runDir);
  if (!existsSync(join(runDir, RUN_FILES.manifest))) {
    return { dir: runDir, record, summary: null, manifest: null };
  }
  const manifest = await readManifest(runDir);
  return { dir: runDir, record, summary: await finishedSummary(runDir), manifest };
}
