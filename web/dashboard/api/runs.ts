import type { RunAction, RunList, ToFix } from '../../../src/dashboard/api/runs.ts';
import { request, requestJson } from './http.ts';

/** The path of a run in the API; `rest` begins with a slash. */
export const runApi = (run: string, rest = ''): string => `/api/runs/${encodeURIComponent(run)}${rest}`;

/** Path of a run's report. `before` is the run to compare it with; empty for the previous one. */
export const reportPath = (run: string, before: string): string =>
  `/runs/${encodeURIComponent(run)}/report.html${before === '' ? '' : `?before=${encodeURIComponent(before)}`}`;

export const listRuns = (signal: AbortSignal): Promise<RunList> => requestJson('/api/runs', { signal });

export const filesToFix = (run: string, signal: AbortSignal): Promise<ToFix> =>
  requestJson(runApi(run, '/to-fix'), { signal });

export const actOnRun = async (run: string, action: RunAction): Promise<void> => {
  await request(runApi(run, `/actions/${action}`), { method: 'POST', body: {} });
};
