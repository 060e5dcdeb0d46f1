import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type AppSite, openApp, sendJson } from '../../http/app.ts';
import { HttpError, NOT_FOUND } from '../../http/http-error.ts';
import type { ModelReply } from '../contract/model.ts';
import type { CallMemory } from '../service/call-memory.ts';
import type { GuardService } from '../service/guard-service.ts';
import type { NetworkLimits } from '../service/limits.ts';
import { readInferCall } from './infer-request.ts';
import { sendVerdicts } from './infer-response.ts';
import { readIndexRequest, readParameterNames } from './repository-request.ts';
import { readDecoded, RequestMemory } from './request-body.ts';
import { errorOf } from './status.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Of a request to the guard. */
    memory: RequestMemory | null;
  }
}

export interface GuardAppOptions {
  readonly service: GuardService;
  readonly limits: NetworkLimits;
  readonly room: CallMemory;
  /** Whether new requests are refused. */
  readonly isExiting: () => boolean;
}

/** Memory of an open request besides its body: up to 16 KiB of headers, and the objects around it. */
const REQUEST_BYTES = 24 * 1024;

/** The guard over HTTP: KServe v2 and Triton's extensions to it, which have no HEAD. */
export function openGuardApp({ service, limits, room, isExiting }: GuardAppOptions): Promise<AppSite> {
  const addHooks = (app: FastifyInstance): void => {
    app.decorateRequest('memory', null);
    app.addHook('onRequest', async (request, { raw }) => {
      if (isExiting()) throw new HttpError(503, 'the server is exiting');
      const memory = new RequestMemory(room);
      request.memory = memory;
      raw.once('close', () => memory.giveBack());
      memory.take(REQUEST_BYTES);
      // The router matches an empty segment, too.
      if (Object.values(request.params as object).includes('')) throw NOT_FOUND;
    });
    app.addHook('onSend', async (request, reply) => {
      const { raw } = reply;
      // The rest of the body could take for ever.
      if (!request.raw.complete) reply.header('connection', 'close');
      if (raw.destroyed) return;
      // A client that does not read its reply would occupy the memory of its request forever.
      const timer = setTimeout(() => raw.destroy(), limits.messageTimeoutMs);
      raw.once('close', () => clearTimeout(timer));
    });
  };
  return openApp({
    ...{ errorOf, exposeHeadRoutes: false },
    addRoutes: (app) => {
      addHooks(app);
      addRoutes(app, service, (request) => readDecoded(request.raw, limits.bodyBytes, request.memory!));
    },
  });
}

interface Params {
  readonly model: string;
  /** Absent: the current one. */
  readonly version?: string;
  readonly repository?: string;
}

interface Route {
  readonly Params: Params;
}

/** Triton's extensions to the protocol that this server does not have. */
const NOT_SERVED = [
  '/v2/logging',
  '/v2/trace/setting',
  '/v2/models/:model/trace/setting',
  ...['/v2/systemsharedmemory', '/v2/cudasharedmemory'].flatMap((memory) => [
    `${memory}/status`,
    `${memory}/unregister`,
    `${memory}/region/:region/status`,
    `${memory}/region/:region/register`,
    `${memory}/region/:region/unregister`,
  ]),
  '/v2/models/:model/generate',
  '/v2/models/:model/generate_stream',
];

/** `bodyOf` reads the body of a request, whatever its content type. */
function addRoutes(
  app: FastifyInstance,
  service: GuardService,
  bodyOf: (request: FastifyRequest) => Promise<Buffer>,
): void {
  // Fastify would refuse a body whose content type is not well-formed.
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
      const call = readInferCall(await bodyOf(request), jsonLength, { name: model, version });
      const verdicts = await new Promise<ModelReply>((resolve) => {
        // When the client has gone, the request leaves the queue.
        reply.raw.once('close', service.infer(call.request, resolve));
      });
      if (verdicts.error !== null) throw verdicts.error;
      return sendVerdicts(reply, call, verdicts);
    });
  }
  for (const path of ['/v2/repository', '/v2/repository/:repository']) {
    app.post<Route>(`${path}/index`, async (request, reply) => {
      const { repository = '' } = request.params;
      return sendJson(reply, service.repository.index(repository, readIndexRequest(await bodyOf(request))));
    });
    for (const change of ['load', 'unload'] as const) {
      app.post<Route>(`${path}/models/:model/${change}`, async (request, reply) => {
        const { model, repository = '' } = request.params;
        const parameters = readParameterNames(await bodyOf(request));
        await service.repository[change]({ repository, model, parameters });
        return reply.send();
      });
    }
  }
  for (const url of NOT_SERVED) {
    app.route({
      ...{ method: ['GET', 'POST'], url },
      handler: () => {
        throw new HttpError(501, 'this server does not have this extension of the protocol');
      },
    });
  }
}

/** As Triton answers health checks: with a status alone. */
function sendHealth(reply: FastifyReply, isGood: boolean): FastifyReply {
  return reply.code(isGood ? 200 : 400).send();
}
