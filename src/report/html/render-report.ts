import { Failure } from '../../domain/failure.ts';
import { reportStart } from '../../files/run-files.ts';
import type { ReportData } from './report-data.ts';
import { sharedReport } from './shared-report.ts';

/** What the build makes of `web/report`. */
interface ReportRuntime {
  readonly renderReport: (
    data: ReportData,
    options: { readonly share: boolean; readonly start: string },
  ) => string;
}

const RUNTIME = '#report-runtime/report.js';

/**
 * A report as one HTML file that loads nothing. It is loaded late: what draws the charts is large. `share`: as
 * `sharedReport` makes it. Failure('internal') when the package is not complete.
 */
export async function renderReport(data: ReportData, options: { readonly share: boolean }): Promise<string> {
  const runtime = await loadReportRuntime();
  const shown = options.share ? sharedReport(data) : data;
  return runtime.renderReport(shown, { ...options, start: reportStart(shown.run) });
}

/** Loads what `renderReport` needs, where there is time for it. */
export async function loadReportRuntime(): Promise<ReportRuntime> {
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
