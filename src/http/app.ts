import type { OutgoingHttpHeaders } from 'node:http';
import fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify';
import { HttpError, httpErrorOf, NOT_FOUND } from './http-error.ts';
import { type HttpSite, MAX_HEADER_BYTES } from './http-server.ts';
import { refusalBody } from './refusal-body.ts';

export interface ErrorResponse {
  readonly status: number;
  readonly headers?: OutgoingHttpHeaders;
  /** Sent as JSON. */
  readonly body: object;
}

interface AppOptions extends Pick<FastifyServerOptions, 'bodyLimit' | 'exposeHeadRoutes' | 'genReqId'> {
  /**
   * The response to an HttpError, an error of the app's own, or an unforeseen one, whose message may quote content. For
   * null, and by default, it is `{"error": "..."}` with the message of an HttpError.
   */
  readonly errorOf?: (error: unknown, request?: FastifyRequest) => ErrorResponse | null;
  /** Answers a request without a route; `allowed` lists the methods of its path. Default: 404. */
  readonly noRoute?: (
    request: FastifyRequest,
    reply: FastifyReply,
    allowed: readonly string[],
  ) => FastifyReply;
  /** Adds routes, hooks and body parsers; there are no parsers by default. */
  readonly addRoutes: (app: FastifyInstance) => void | Promise<void>;
}

/** An app as a site of an HTTP server that admits requests by their headers. */
export type AppSite = Required<Pick<HttpSite, 'handle' | 'chunkedBodies' | 'errorBody'>>;

/** Creates the routes, error responses and body handling of a server: a Fastify app, which does not listen itself. */
export async function openApp(options: AppOptions): Promise<AppSite> {
  const { errorOf, noRoute = notFound, addRoutes, ...ofServer } = options;
  const responseTo = (error: unknown, request?: FastifyRequest): ErrorResponse =>
    errorOf?.(error, request) ?? plainResponse(error instanceof HttpError ? error : FAILED);
  const sendError = (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    discardBody(request);
    const { status, headers = {}, body } = responseTo(httpErrorOf(error) ?? error, request);
    reply.code(status).headers(headers);
    if (request.raw.complete || reply.raw.shouldKeepAlive) return sendJson(reply, body);
    const json = Buffer.from(JSON.stringify(body));
    const described = { 'content-type': 'application/json', 'content-length': json.length };
    return reply.headers(described).send(refusalBody(request.raw, json));
  };
  const app = fastify({
    ...ofServer,
    logger: false,
    requestIdHeader: false,
    // Effectively unlimited: the headers of a request are shorter.
    routerOptions: { maxParamLength: MAX_HEADER_BYTES },
    frameworkErrors: (error, request, reply) => void sendError(error, request, reply),
  });
  app.removeAllContentTypeParsers();
  app.setErrorHandler(sendError);
  await addRoutes(app);
  // The last hook: unauthorized clients must not learn which paths exist. After it, the body would be read.
  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return;
    const allowed = METHODS.filter((method) => app.findRoute({ method, url: request.url }) !== null);
    discardBody(request);
    return noRoute(request, reply, allowed);
  });
  await app.ready();
  return {
    handle: async (request, response) => app.routing(request, response),
    // Routes limit the bodies that they read.
    chunkedBodies: true,
    errorBody: (status, text) => responseTo(new HttpError(status, text)).body,
  };
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'];

function notFound(): never {
  throw NOT_FOUND;
}

const FAILED = new HttpError(500, 'the server failed on this request');

function plainResponse({ status, message }: HttpError): ErrorResponse {
  return { status, body: { error: message } };
}

/** Sends JSON, which has no charset; Fastify would name one for all but bytes. */
export function sendJson(reply: FastifyReply, value: unknown): FastifyReply {
  return reply.type('application/json').send(Buffer.from(JSON.stringify(value)));
}

/** Reads the unused rest of a body, so the client gets the response and can reuse the connection. */
function discardBody({ raw }: FastifyRequest): void {
  raw.unpipe();
  raw.resume();
}
