import { hash } from 'node:crypto';
import { basename } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { clearMarker, setMarker } from '../../runs/control/control-files.ts';
import { type Health, RUN_ACTIONS, type RunAction, type RunList } from '../api/runs.ts';
import { DashboardError } from '../errors.ts';
import type { ContentAccess } from '../runs/content-access.ts';
import { runDetail } from '../runs/run-detail.ts';
import type { RunFolder } from '../runs/run-folder.ts';
import type { ListedRuns } from '../runs/run-list.ts';
import type { RunReports } from '../runs/run-reports.ts';

export interface RunParts {
  readonly runs: RunFolder;
  readonly list: ListedRuns;
  readonly health: () => Promise<Health>;
  readonly reports: RunReports;
  readonly access: ContentAccess;
  /** Aborts when the server shuts down. */
  readonly signal: AbortSignal;
}

interface OfRun {
  Params: { run: string };
}

interface OfReport extends OfRun {
  /** `before` is the run to compare with, instead of the previous one. */
  Querystring: { before?: string };
}

interface OfAction {
  Params: { run: string; action: string };
}

const DONE: Readonly<Record<RunAction, string>> = {
  pause: 'paused',
  continue: 'continued',
  cancel: 'cancelled',
};

/**
 * A report can be framed only by our pages, and has no origin there, so its script can reach neither the session nor
 * the API. Its own policy, in the page, names its only script and style sheet by their hashes, and applies as well.
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

/** Routes under `/api/runs`: list, pause, continue and cancel runs. Pages poll every two seconds for changes. */
export function addRunRoutes(app: FastifyInstance, parts: RunParts): void {
  const { runs, list, health, access, reports, signal } = parts;

  app.get('/api/runs', async (request, reply) => {
    const [{ rows, older }, services] = await Promise.all([list.look(signal), health()]);
    return sendIfChanged(request, reply, { runs: rows, older, health: services } satisfies RunList);
  });

  app.get<OfRun>('/api/runs/:run', async (request, reply) => {
    const { run } = request.params;
    const dir = await runs.find(run);
    const current = await list.current(run, signal);
    return sendIfChanged(request, reply, await runDetail(current, dir, access));
  });

  app.get<OfReport>('/runs/:run/report.html', async ({ params, query: { before } }, reply) => {
    const dir = await runs.find(params.run);
    const html = await (before === undefined
      ? reports.html(dir)
      : reports.compared(dir, await runs.find(String(before))));
    return reply.header('content-security-policy', REPORT_POLICY).type('text/html; charset=utf-8').send(html);
  });

  app.post<OfAction>('/api/runs/:run/actions/:action', async ({ params }, reply) => {
    const { run } = params;
    const action = RUN_ACTIONS.find((each) => each === params.action);
    if (action === undefined) throw new DashboardError('NOT_FOUND', 'there is no such action');
    if (!(await runs.isWritable())) {
      const folder = basename(runs.path);
      throw new DashboardError('FORBIDDEN', `runs cannot be changed here: ${folder} is not writable`);
    }
    const dir = await runs.findOwn(run);
    const { row } = await list.current(run, signal);
    if (!row.actions.includes(action))
      throw new DashboardError('CONFLICT', `a run that is ${row.state} cannot be ${DONE[action]}`);
    if (action === 'continue') await clearMarker(dir, 'paused');
    else await setMarker(dir, action === 'pause' ? 'paused' : 'cancelled');
    list.forget(run);
    return reply.code(202).send();
  });
}

/** Sends JSON, or 304 if the client already has the same. */
function sendIfChanged(request: FastifyRequest, reply: FastifyReply, body: object): FastifyReply {
  const json = JSON.stringify(body);
  const etag = `"${hash('sha256', json, 'base64url')}"`;
  reply.header('etag', etag);
  if (request.headers['if-none-match'] === etag) return reply.code(304).send();
  return reply.type('application/json; charset=utf-8').send(json);
}
