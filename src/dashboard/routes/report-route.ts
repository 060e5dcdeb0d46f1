import type { FastifyInstance } from 'fastify';
import type { RunFolder } from '../runs/run-folder.ts';
import type { RunReports } from '../runs/run-reports.ts';

export interface ReportParts {
  readonly runs: RunFolder;
  readonly reports: RunReports;
}

/**
 * A report is framed by our pages only, as a page of no origin: its script reaches neither the session nor the API. Its own
 * policy, in the page, names its one script and style sheet by their hashes, and holds as well.
 */
const REPORT_POLICY = [
  "default-src 'none'",
  "script-src 'unsafe-inline'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
  'sandbox allow-scripts',
].join('; ');

/** `/runs/:run/report.html`: the report of a run, as far as it is. */
export function addReportRoute(app: FastifyInstance, { runs, reports }: ReportParts): void {
  app.get<{ Params: { run: string } }>('/runs/:run/report.html', async ({ params }, reply) => {
    const html = await reports.html(await runs.find(params.run));
    return reply.header('content-security-policy', REPORT_POLICY).type('text/html; charset=utf-8').send(html);
  });
}
