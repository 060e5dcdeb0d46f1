import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { createTemporary } from '../../files/create-file.ts';
import { pathExists } from '../../files/folders.ts';
import { RUN_FILES, temporaryName } from '../../files/run-files.ts';
import type { ReviewProgress } from '../../record/reviews/review.ts';
import { assertOwnRun } from '../../runs/trust/own-run.ts';
import { collectReport } from './collect-report.ts';
import type { ReportData } from './report-data.ts';

/**
 * Epoch in the name of its temporary file. It is lower than any other, so the next writer removes what a crash left.
 */
const BEFORE_ALL = 0;

/**
 * Writes report.html into a run directory, completely or not at all, replacing an earlier one; returns its path and the
 * review progress of the run. Failure('usage') for a directory in which others can write, Failure('service') when the
 * file cannot be written, others as in `collectReport`.
 */
export async function writeReport(
  runDir: string,
  signal: AbortSignal,
): Promise<{ readonly path: string; readonly reviews: ReviewProgress }> {
  await assertOwnRun(runDir);
  // The renderer loads while DuckDB counts.
  const [data] = await Promise.all([collectReport(runDir, signal), loadReportRuntime()]);
  const html = await renderReport(data);
  const path = join(runDir, RUN_FILES.report);
  const temporary = join(runDir, temporaryName(RUN_FILES.report, BEFORE_ALL));
  try {
    const handle = await createTemporary(temporary);
    try {
      await handle.writeFile(html);
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (cause) {
    await rm(temporary, { force: true }).catch(() => undefined);
    const { code } = cause as NodeJS.ErrnoException;
    throw new Failure('service', `${RUN_FILES.report} cannot be written (${code})`, { cause });
  }
  return { path, reviews: data.reviews };
}

/** A line with the location of a report, or the reason why it was not written, in which case there are no reviews. */
export interface ReportNotice {
  readonly line: string;
  readonly reviews: ReviewProgress | null;
}

/**
 * Writes the report of a run that was just finished. A report is not part of the record, so nothing fails when it
 * cannot be written. Null if there is a report already and nothing was added to the run.
 */
export async function reportWhenFinished(
  runDir: string,
  { worked }: { readonly worked: boolean },
  signal: AbortSignal,
): Promise<ReportNotice | null> {
  if (!worked && (await pathExists(join(runDir, RUN_FILES.report)))) return null;
  try {
    const { path, reviews } = await writeReport(runDir, signal);
    return { line: `report: ${path}`, reviews };
  } catch (error) {
    const known = error instanceof Failure ? error.message : 'an unexpected error';
    const why = signal.aborted ? 'interrupted; guardsweep report writes it' : known;
    return { line: `the report was not written: ${why}`, reviews: null };
  }
}

/** The module built from `web/report`. */
interface ReportRuntime {
  readonly renderReport: (data: ReportData) => string;
}

const RUNTIME = '#report-runtime/report.js';

/** Renders a report as one self-contained HTML file. Failure('internal') if the package is incomplete. */
export async function renderReport(data: ReportData): Promise<string> {
  const runtime = await loadReportRuntime();
  return runtime.renderReport(data);
}

/** Loads the module for `renderReport`. It is large, so it is loaded while waiting for something else. */
async function loadReportRuntime(): Promise<ReportRuntime> {
  try {
    return (await import(RUNTIME)) as ReportRuntime;
  } catch (cause) {
    throw new Failure(
      'internal',
      'the part that renders reports is missing: build or install the package again',
      {
        cause,
      },
    );
  }
}
