import { Failure } from '../../domain/failure.ts';
import type { ReportData } from './report-data.ts';

/** What the build makes of `web/report`. */
interface ReportRuntime {
  readonly renderReport: (data: ReportData) => string;
}

const RUNTIME = '#report-runtime/report.js';

/** Renders a report as one HTML file that loads nothing. Failure('internal') if the package is incomplete. */
export async function renderReport(data: ReportData): Promise<string> {
  const runtime = await loadReportRuntime();
  return runtime.renderReport(data);
}

/** Loads what `renderReport` needs; large, so it is loaded while something else is waited for. */
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
