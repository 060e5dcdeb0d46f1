import type { CleanExport } from '../../config/after-finish.ts';
import type { SourceConfig } from '../../config/run-config.ts';
import { plural } from '../../domain/text/plural.ts';
import type { FeedUi } from '../context.ts';
import { tell } from './run-report.ts';

/** Failure('usage') unless the clean rows can be written to the requested path; called before a run is created. */
export async function assertExportable(
  { afterFinish: { exportClean } }: FeedUi,
  corpora: readonly SourceConfig[],
): Promise<void> {
  if (exportClean === null) return;
  const { assertFree, destinationOf } = await import('../../report/export/destination.ts');
  await assertFree(destinationOf(exportClean.out), corpora);
}

/**
 * Writes the clean rows of a run that has just finished, and prints their path; returns the exit status of the export.
 */
export async function exportCleanRows(
  runDir: string,
  { out, keepReview }: CleanExport,
  ui: FeedUi,
): Promise<number> {
  const [{ openFinishedRun }, { exportRun }, { exportStatus }] = await Promise.all([
    import('../../report/export/export-run.ts'),
    import('../../report/export/export-run.ts'),
    import('../../report/export/reasons.ts'),
  ]);
  const signal = ui.interrupts.drain;
  const finished = await openFinishedRun(runDir, signal);
  const result = await exportRun(finished, {
    what: { kind: 'clean', keepReview, ignoreReviews: false },
    out,
    signal,
  });
  const { kept, rejected } = result.rows;
  const all = kept + rejected;
  tell(
    ui,
    `clean: ${kept} of ${all} ${plural(all, 'row')} in ${out}; ${rejected} left out, with the reasons, in ${result.rejected}`,
  );
  return exportStatus(result, finished.run.record.config.allowErrors);
}
