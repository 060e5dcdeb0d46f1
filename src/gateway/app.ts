import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import multipart from '@fastify/multipart';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Failure } from '../domain/failure.ts';
import { type AppSite, openApp } from '../http/app.ts';
import { HttpError, NOT_FOUND } from '../http/http-error.ts';
import { addMetricsRoute, missingNeeds, type Readiness } from '../http/metrics-server.ts';
import { readBody } from '../http/read-body.ts';
import { ApiError } from './api/errors.ts';
import { apiErrorOf, internalFailure } from './api/foreign-errors.ts';
import { openApiDocument } from './api/openapi.ts';
import { MAX_TEXT_BODY_BYTES } from './limits.ts';
import type { GatewayMetrics } from './metrics.ts';
import { addModerationRoutes, type ModerationParts } from './routes/moderation-routes.ts';

export interface AppParts extends ModerationParts, StatusParts {
  readonly metrics: GatewayMetrics;
  /** Called with a failure after which no request can succeed any more. */
  readonly onFailure: (failure: Failure) => void;
}

/** The routes of the gateway. */
export function createApp(parts: AppParts): Promise<AppSite> {
  return openApp({
    genReqId: requestId,
    noRoute: answerOtherMethod,
    errorOf: (error) => {
      const failure = internalFailure(error);
      if (failure !== null) parts.onFailure(failure);
      return apiErrorOf(error);
    },
    addRoutes: async (app) => {
      app.addContentTypeParser('application/json', (_request: unknown, payload: IncomingMessage) =>
        readBody(payload, MAX_TEXT_BODY_BYTES),
      );
      await app.register(multipart);
      app.addHook('onRequest', async (request, reply) => {
        reply.header('x-request-id', request.id);
        measure(request, reply, parts.metrics);
      });
      addModerationRoutes(app, parts);
      addStatusRoutes(app, parts);
    },
  });
}

/** Answers OPTIONS with the methods of a path; other methods get 405, other paths 404. */
function answerOtherMethod(
  { method }: FastifyRequest,
  reply: FastifyReply,
  allowed: readonly string[],
): FastifyReply {
  if (allowed.length === 0) throw NOT_FOUND;
  reply.header('allow', [...allowed, 'OPTIONS'].join(', '));
  if (method !== 'OPTIONS')
    throw new HttpError(405, `this path takes ${allowed.join(' and ')} requests only`);
  return reply.code(204).send();
}

const REQUEST_ID = /^[\w.:-]{1,128}$/;

/** The client's `x-request-id` if it has the plain form, otherwise a generated one. */
function requestId({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID();
}

function measure(request: FastifyRequest, reply: FastifyReply, metrics: GatewayMetrics): void {
  const startedAt = performance.now();
  reply.raw.once('close', () => {
    const status = reply.raw.writableFinished ? String(reply.raw.statusCode) : 'aborted';
    const route = request.routeOptions.url ?? 'other';
    metrics.answered(route, status, (performance.now() - startedAt) / 1000);
  });
}

interface StatusParts {
  readonly metrics: GatewayMetrics;
  readonly readiness: Readiness;
  /** Whether every request must carry a token. */
  readonly needsToken: boolean;
}

/** Routes about the gateway itself. */
function addStatusRoutes(app: FastifyInstance, { metrics, readiness, needsToken }: StatusParts): void {
  const document = openApiDocument(needsToken);
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async () => {
    const missing = await missingNeeds(readiness);
    if (missing.length > 0) throw new ApiError('GUARD_UNAVAILABLE', `not ready: ${missing.join(', ')}`);
    return { status: 'ok' };
  });
  addMetricsRoute(app, metrics.registry);
  app.get('/openapi.json', async () => document);
}
