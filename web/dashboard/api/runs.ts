import type { RunAction, ToFix } from '../../../src/dashboard/api/runs.ts';
import { request, requestJson } from './http.ts';

/** The path of a run in the API; `rest` begins with a slash. */
export const runApi = (run: string, rest = ''): string => `/api/runs/${encodeURIComponent(run)}${rest}`;

/** Path of a run's report. */
export const reportPath = (run: string): string => `/runs/${encodeURIComponent(run)}/report.html`;

export const filesToFix = (run: string, signal: AbortSignal): Promise<ToFix> =>
  requestJson(runApi(run, '/to-fix'), { signal });

export const actOnRun = async (run: string, action: RunAction): Promise<void> => {
  await request(runApi(run, `/actions/${action}`), { method: 'POST', body: {} });
};
