import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import multipart from '@fastify/multipart';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Failure } from '../domain/failure.ts';
import { ApiError, RETRY_AFTER_SECONDS, STATUS } from './api/errors.ts';
import { apiErrorOf, internalFailure } from './api/foreign-errors.ts';
import { openApiDocument } from './api/openapi.ts';
import type { GuardWatch } from './guard-watch.ts';
import type { GatewayMetrics } from './metrics.ts';
import { readTextBody } from './requests/text-body.ts';
import { addModerationRoutes, type ModerationParts } from './routes/moderation-routes.ts';

export interface AppParts extends ModerationParts, StatusParts {
  readonly metrics: GatewayMetrics;
  /** Takes a failure after which no request can succeed any more. */
  readonly onFailure: (failure: Failure) => void;
}

/** The routes of the gateway. It does not listen: it is given requests that were admitted by their headers. */
export async function createApp(parts: AppParts): Promise<FastifyInstance> {
  const app = fastify({
    logger: false,
    requestIdHeader: false,
    genReqId: requestId,
    frameworkErrors: (error, _request, reply) => void sendError(reply, apiErrorOf(error)),
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', (request: FastifyRequest, payload: IncomingMessage) =>
    readTextBody(payload, request.headers),
  );
  await app.register(multipart);
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id);
    measure(request, reply, parts.metrics);
  });
  app.setErrorHandler((error, request, reply) => {
    const failure = internalFailure(error);
    if (failure !== null) parts.onFailure(failure);
    discardBody(request);
    return sendError(reply, apiErrorOf(error));
  });
  app.setNotFoundHandler((request, reply) => answerUnrouted(app, request, reply));
  addModerationRoutes(app, parts);
  addStatusRoutes(app, parts);
  await app.ready();
  return app;
}

const REQUEST_ID = /^[\w.:-]{1,128}$/;

/** The client's `x-request-id` if it is a plain one, else one of our own. */
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

function sendError(reply: FastifyReply, error: ApiError): FastifyReply {
  const seconds = RETRY_AFTER_SECONDS[error.code];
  if (seconds !== undefined) reply.header('retry-after', seconds);
  return reply.code(STATUS[error.code]).send(error.body);
}

/** Reads the rest of a body that is of no use, so that the client gets the reply and can use the connection again. */
function discardBody({ raw }: FastifyRequest): void {
  raw.unpipe();
  raw.resume();
}

const METHODS = ['GET', 'HEAD', 'POST'];

/** A path that has other methods answers 405 and names them, or answers OPTIONS. Other paths are unknown. */
function answerUnrouted(app: FastifyInstance, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  discardBody(request);
  const url = request.url.split('?', 1)[0]!;
  const allowed = METHODS.filter((method) => app.hasRoute({ method, url }));
  if (allowed.length === 0) return sendError(reply, new ApiError('NOT_FOUND', 'there is no such path'));
  reply.header('allow', [...allowed, 'OPTIONS'].join(', '));
  if (request.method === 'OPTIONS') return reply.code(204).send();
  return sendError(reply, new ApiError('METHOD_NOT_ALLOWED', `this path takes ${allowed.join(' and ')}`));
}

interface StatusParts {
  readonly guardWatch: GuardWatch;
  readonly metrics: GatewayMetrics;
  /** Whether every request must carry a token. */
  readonly needsToken: boolean;
}

/** What programs ask about the gateway itself. */
function addStatusRoutes(app: FastifyInstance, { guardWatch, metrics, needsToken }: StatusParts): void {
  const document = openApiDocument(needsToken);
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async () => {
    if (!guardWatch.isReady) throw new ApiError('GUARD_UNAVAILABLE', 'no guard is ready');
    return { status: 'ok' };
  });
  app.get('/metrics', async (_request, reply) => {
    const text = await metrics.registry.metrics();
    return reply.type(metrics.registry.contentType).send(text);
  });
  app.get('/openapi.json', async () => document);
}
