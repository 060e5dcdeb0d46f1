import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { DashboardError, knownErrorOf } from './errors.ts';
import { parseBody } from './body.ts';
import type { WebFiles } from './pages/web-files.ts';
import { addContentRoutes, type ContentParts } from './routes/content-routes.ts';
import { addItemRoutes, type ItemParts } from './routes/item-routes.ts';
import { addLiveRoutes, type LiveParts } from './routes/live-routes.ts';
import { addPageRoutes } from './routes/page-routes.ts';
import { addReportRoute, type ReportParts } from './routes/report-route.ts';
import { addReviewRoutes } from './routes/review-routes.ts';
import { addRunRoutes, type RunParts } from './routes/run-routes.ts';
import { addSessionRoutes, type SessionParts } from './routes/session-routes.ts';
import { addAccessRules } from './session/access.ts';

export interface AppParts extends SessionParts, RunParts, ReportParts, LiveParts, ItemParts, ContentParts {
  /** Null if the pages are not built. */
  readonly web: WebFiles | null;
  /** Takes one line for people about an error that nobody foresaw. */
  readonly say: (line: string) => void;
}

/** Of a request: a filter with many corpora is the largest. */
export const MAX_BODY_BYTES = 1024 * 1024;

/** Names of runs are shorter. */
const MAX_PARAM_LENGTH = 512;

const COMMON_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** The routes of the dashboard. It does not listen: it is given requests that were admitted by their headers. */
export async function createApp(parts: AppParts): Promise<FastifyInstance> {
  const { say } = parts;
  const app = fastify({
    logger: false,
    requestIdHeader: false,
    bodyLimit: MAX_BODY_BYTES,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    frameworkErrors: (error, request, reply) => void sendError(error, request, reply, say),
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer' },
    async (_request: unknown, body: Buffer) => parseBody(body),
  );
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(COMMON_HEADERS);
  });
  addAccessRules(app, parts);
  app.setErrorHandler((error, request, reply) => sendError(error, request, reply, say));
  app.setNotFoundHandler(() => {
    throw new DashboardError('NOT_FOUND', 'there is no such path');
  });
  addSessionRoutes(app, parts);
  addRunRoutes(app, parts);
  addReportRoute(app, parts);
  addLiveRoutes(app, parts);
  addItemRoutes(app, parts);
  addReviewRoutes(app, parts);
  addContentRoutes(app, parts);
  addPageRoutes(app, parts.web);
  await app.ready();
  return app;
}

function sendError(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  say: (line: string) => void,
): FastifyReply {
  const known = knownErrorOf(error);
  if (known === null) {
    // A message that is not ours could quote content.
    const kind = error instanceof Error ? error.constructor.name : typeof error;
    say(`the dashboard failed on ${request.method} ${request.routeOptions.url ?? 'a path'} (${kind})`);
  }
  const { status, body } = known ?? new DashboardError('INTERNAL', 'the dashboard failed');
  // The rest of a body that is of no use is read, so that the client gets the answer.
  request.raw.unpipe();
  request.raw.resume();
  return reply.headers(COMMON_HEADERS).code(status).send(body);
}
