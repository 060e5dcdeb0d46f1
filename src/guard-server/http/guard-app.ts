import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { z } from 'zod';
import { type AppSite, type ErrorResponse, openApp, sendJson } from '../../http/app.ts';
import { HttpError } from '../../http/http-error.ts';
import type { ModelReply } from '../contract/model.ts';
import { RequestError, type RequestErrorCode, shortened } from '../contract/request-error.ts';
import type { GuardService } from '../service/guard-service.ts';
import { readInferCall } from './infer-request.ts';
import { sendVerdicts } from './infer-response.ts';
import { parseJson, readDecompressedBody } from './request-body.ts';

export interface GuardAppOptions {
  readonly service: GuardService;
  /** Whether new requests are rejected. */
  readonly isExiting: () => boolean;
}

/** Serves the guard over HTTP: KServe v2 and Triton's extensions to it, which have no HEAD. */
export function openGuardApp({ service, isExiting }: GuardAppOptions): Promise<AppSite> {
  return openApp({
    ...{ errorOf: toErrorResponse, exposeHeadRoutes: false },
    noRoute: ({ method, url }) => {
      throw new HttpError(501, `this server does not serve ${method} ${shortened(url)}`);
    },
    addRoutes: (app) => {
      app.addHook('onRequest', async () => {
        if (isExiting()) throw new HttpError(503, 'the server is exiting');
      });
      addRoutes(app, service);
    },
  });
}

interface Params {
  readonly model: string;
  /** Defaults to the current version. */
  readonly version?: string;
  readonly repository?: string;
}

interface Route {
  readonly Params: Params;
}

function addRoutes(app: FastifyInstance, service: GuardService): void {
  // Bodies are read whatever their content type: Fastify would reject one whose content type is malformed.
  app.addHttpMethod('POST', { hasBody: false, overrideExisting: true });
  app.get('/v2', (_request, reply) => sendJson(reply, service.serverMetadata()));
  app.get('/v2/health/live', (_request, reply) => sendHealth(reply, service.isLive()));
  app.get('/v2/health/ready', (_request, reply) => sendHealth(reply, service.isReady()));
  app.get('/v2/models/stats', (_request, reply) =>
    sendJson(reply, { model_stats: service.modelStatistics('', '') }),
  );
  for (const path of ['/v2/models/:model', '/v2/models/:model/versions/:version']) {
    app.get<Route>(path, ({ params: { model, version = '' } }, reply) =>
      sendJson(reply, service.modelMetadata(model, version)),
    );
    app.get<Route>(`${path}/config`, ({ params: { model, version = '' } }, reply) =>
      sendJson(reply, service.modelConfig(model, version)),
    );
    app.get<Route>(`${path}/stats`, ({ params: { model, version = '' } }, reply) =>
      sendJson(reply, { model_stats: service.modelStatistics(model, version) }),
    );
    app.get<Route>(`${path}/ready`, ({ params: { model, version = '' } }, reply) =>
      sendHealth(reply, service.isModelReady(model, version)),
    );
    app.post<Route>(`${path}/infer`, async (request, reply) => {
      const { model, version = '' } = request.params;
      const jsonLength = request.headers['inference-header-content-length']?.toString();
      const call = readInferCall(await readDecompressedBody(request.raw), jsonLength, {
        name: model,
        version,
      });
      const verdicts = await new Promise<ModelReply>((resolve) => {
        // When the client disconnects, the request leaves the queue.
        reply.raw.once('close', service.infer(call.request, resolve));
      });
      if (verdicts.error !== null) throw verdicts.error;
      return sendVerdicts(reply, call, verdicts);
    });
  }
  for (const path of ['/v2/repository', '/v2/repository/:repository']) {
    app.post<Route>(`${path}/index`, async (request, reply) => {
      const { repository = '' } = request.params;
      const { ready } = await readRepositoryRequest(request.raw);
      return sendJson(reply, service.repository.index(repository, ready));
    });
    for (const change of ['load', 'unload'] as const) {
      app.post<Route>(`${path}/models/:model/${change}`, async (request, reply) => {
        const { model, repository = '' } = request.params;
        const { parameters } = await readRepositoryRequest(request.raw);
        await service.repository[change]({ repository, model, parameters: Object.keys(parameters) });
        return reply.send();
      });
    }
  }
}

/** Body of a request to the model repository. */
const REPOSITORY_REQUEST = z.object({
  /** For an index: list ready models only. */
  ready: z.boolean().default(false),
  /** For a request to load or unload a model. */
  parameters: z.record(z.string(), z.unknown()).default({}),
});

/** Reads a request; an empty body stands for an empty object. Rejects with RequestError INVALID_REQUEST. */
async function readRepositoryRequest(request: IncomingMessage): Promise<z.infer<typeof REPOSITORY_REQUEST>> {
  const body = await readDecompressedBody(request);
  return body.length === 0 ? REPOSITORY_REQUEST.parse({}) : parseJson(body, REPOSITORY_REQUEST);
}

/** Answers a health check like Triton: with a status only. */
function sendHealth(reply: FastifyReply, isGood: boolean): FastifyReply {
  return reply.code(isGood ? 200 : 400).send();
}

/** The HTTP status of each request error, as Triton assigns them: 400 for all codes without a specific status. */
const STATUS: Readonly<Record<RequestErrorCode, number>> = {
  MISSING_PAYLOAD: 400,
  INVALID_CONVERSATION: 400,
  INVALID_ROLE: 400,
  EMPTY_CONTENT: 400,
  UNSUPPORTED_AUDIO_TYPE: 400,
  SEQUENCE_OVERFLOW: 400,
  GUARD_REJECTED: 400,
  PROBE_NOT_LOADED: 400,
  INVALID_REQUEST: 400,
  MODEL_NOT_FOUND: 404,
  UNAVAILABLE: 503,
  EXECUTION_FAILED: 500,
  LOAD_FAILED: 500,
  NOT_SUPPORTED: 501,
};

/** The response to a request error; null for any other error. */
function toErrorResponse(error: unknown): ErrorResponse | null {
  return error instanceof RequestError
    ? { status: STATUS[error.code], body: { error: error.message } }
    : null;
}
