import type { CleanExport } from '../config/after-finish.ts';
import type { SourceConfig } from '../config/run-config.ts';
import { exportRun } from '../report/export/export-run.ts';
import { exportStatus } from '../report/export/reasons.ts';
import { openFinishedRun } from '../report/export/export-run.ts';
import { assertFree, destinationOf } from '../report/export/destination.ts';

/** The clean rows requested with `exportClean`. */
export interface CleanRows {
  /**
   * Absolute paths: the clean rows (null if the source is a single file that was refused), and the list of the others
   * with the reasons.
   */
  readonly out: string | null;
  readonly rejected: string;
  readonly rows: { readonly kept: number; readonly rejected: number };
}

/** Failure('usage') unless the clean rows can be written at the requested path; called before a run is created. */
export async function assertExportable(
  clean: CleanExport | null,
  corpora: readonly SourceConfig[],
): Promise<void> {
  if (clean !== null) await assertFree(destinationOf(clean.out), corpora);
}

/** Writes the clean rows of a finished run. `exitStatus` is 5 if something was excluded because it was not judged. */
export async function writeCleanRows(
  dir: string,
  { out, keepReview }: CleanExport,
  signal: AbortSignal,
): Promise<{ readonly clean: CleanRows; readonly exitStatus: number }> {
  const finished = await openFinishedRun(dir, signal);
  const result = await exportRun(finished, {
    what: { kind: 'clean', keepReview, ignoreReviews: false },
    out,
    signal,
  });
  const { rejected, rows } = result;
  return {
    clean: { out: result.out, rejected, rows },
    exitStatus: exportStatus(result, finished.run.record.config.allowErrors),
  };
}
