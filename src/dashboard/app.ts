import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { Say } from '../domain/say.ts';
import { type AppSite, openApp } from '../http/app.ts';
import { readBody } from '../http/read-body.ts';
import { DashboardError, toDashboardError } from './errors.ts';
import { parseBody } from './body.ts';
import type { WebFiles } from './pages/web-files.ts';
import { addContentRoutes, type ContentParts } from './routes/content-routes.ts';
import { addItemRoutes, type ItemParts } from './routes/item-routes.ts';
import { addPageRoutes } from './routes/page-routes.ts';
import { addReviewRoutes } from './routes/review-routes.ts';
import { addRunRoutes, type RunParts } from './routes/run-routes.ts';
import { addSessionRoutes, type SessionParts } from './routes/session-routes.ts';
import { addAccessRules } from './session/access.ts';

export interface AppParts extends SessionParts, RunParts, ItemParts, ContentParts {
  /** Null if the pages are not built. */
  readonly web: WebFiles | null;
  /** Prints one human-readable line about an unexpected error. */
  readonly say: Say;
}

/** Maximum size of a request body. A filter with many corpora is the largest. */
export const MAX_BODY_BYTES = 1024 * 1024;

const COMMON_HEADERS = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** The routes of the dashboard. */
export function createApp(parts: AppParts): Promise<AppSite> {
  return openApp({
    bodyLimit: MAX_BODY_BYTES,
    errorOf: (error, request) => {
      const known = toDashboardError(error);
      if (known === null) {
        // The message of an error that is not ours could quote content.
        const kind = error instanceof Error ? error.constructor.name : typeof error;
        parts.say(
          `the dashboard failed on ${request?.method} ${request?.routeOptions.url ?? 'a path'} (${kind})`,
          { level: 'error', event: 'request_failed', code: kind },
        );
      }
      const { status, body } = known ?? new DashboardError('INTERNAL', 'the dashboard failed');
      return { status, body, headers: COMMON_HEADERS };
    },
    addRoutes: (app) => {
      app.addContentTypeParser(
        'application/json',
        async (request: FastifyRequest, payload: IncomingMessage) =>
          parseBody(await readBody(payload, request.routeOptions.bodyLimit)),
      );
      app.addHook('onRequest', async (_request, reply) => {
        reply.headers(COMMON_HEADERS);
      });
      addAccessRules(app, parts);
      addSessionRoutes(app, parts);
      addRunRoutes(app, parts);
      addItemRoutes(app, parts);
      addReviewRoutes(app, parts);
      addContentRoutes(app, parts);
      addPageRoutes(app, parts.web);
    },
  });
}
