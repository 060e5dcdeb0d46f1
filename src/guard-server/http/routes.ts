import type { IncomingHttpHeaders } from 'node:http';
import type { Reply } from '../contract/model.ts';
import type { GuardService } from '../service/guard-service.ts';
import type { RepositoryRequest } from '../service/model-repository.ts';
import { type Answer, emptyAnswer, jsonAnswer } from './answer.ts';
import { readInferCall } from './infer-request.ts';
import { inferAnswer } from './infer-response.ts';
import { readIndexRequest, readParameterNames } from './repository-request.ts';
import { HttpError } from './status.ts';

/** Matches the paths of one route: `/v2/models/{model}/ready`. A variable segment matches any segment but an empty one. */
class PathPattern {
  readonly #segments: readonly string[];

  constructor(pattern: string) {
    this.#segments = pattern.split('/');
  }

  /**
   * The variable segments of a path, decoded; null: the path does not match.
   * Throws HttpError 400 when they are not valid percent-encoding.
   */
  match(path: readonly string[]): ReadonlyMap<string, string> | null {
    if (path.length !== this.#segments.length) return null;
    const variables = new Map<string, string>();
    for (const [index, segment] of this.#segments.entries()) {
      const given = path[index]!;
      if (segment.startsWith('{')) {
        if (given === '') return null;
        variables.set(segment.slice(1, -1), given);
      } else if (segment !== given) return null;
    }
    return new Map(Array.from(variables, ([name, value]) => [name, decoded(value)]));
  }
}

interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: PathPattern;
  /** Throws RequestError or HttpError. */
  readonly answer: (exchange: Exchange) => Answer | Promise<Answer>;
}

type Answering = Route['answer'];

/** The paths of KServe v2 over HTTP and of Triton's extensions to it. */
const ROUTES: readonly Route[] = [
  get('/v2', ({ service }) => jsonAnswer(service.serverMetadata())),
  get('/v2/health/live', ({ service }) => health(service.isLive())),
  get('/v2/health/ready', ({ service }) => health(service.isReady())),
  get('/v2/models/stats', ({ service }) => jsonAnswer({ model_stats: service.modelStatistics('', '') })),
  ...ofModel(get, '/stats', ({ service, path }) =>
    jsonAnswer({ model_stats: service.modelStatistics(path('model'), path('version')) }),
  ),
  ...ofModel(get, '', ({ service, path }) =>
    jsonAnswer(service.modelMetadata(path('model'), path('version'))),
  ),
  ...ofModel(get, '/ready', ({ service, path }) =>
    health(service.isModelReady(path('model'), path('version'))),
  ),
  ...ofModel(get, '/config', ({ service, path }) =>
    jsonAnswer(service.modelConfig(path('model'), path('version'))),
  ),
  ...ofModel(post, '/infer', infer),
  ...ofRepository('/index', async ({ service, path, body }) =>
    jsonAnswer(service.repository.index(path('repository'), readIndexRequest(await body()))),
  ),
  ...ofRepository('/models/{model}/load', async (exchange) => {
    await exchange.service.repository.load(await repositoryRequest(exchange));
    return emptyAnswer();
  }),
  ...ofRepository('/models/{model}/unload', async (exchange) => {
    await exchange.service.repository.unload(await repositoryRequest(exchange));
    return emptyAnswer();
  }),
  ...[
    '/v2/logging',
    '/v2/trace/setting',
    '/v2/models/{model}/trace/setting',
    '/v2/systemsharedmemory/status',
    '/v2/systemsharedmemory/unregister',
    '/v2/systemsharedmemory/region/{region}/status',
    '/v2/systemsharedmemory/region/{region}/register',
    '/v2/systemsharedmemory/region/{region}/unregister',
    '/v2/cudasharedmemory/status',
    '/v2/cudasharedmemory/unregister',
    '/v2/cudasharedmemory/region/{region}/status',
    '/v2/cudasharedmemory/region/{region}/register',
    '/v2/cudasharedmemory/region/{region}/unregister',
    '/v2/models/{model}/generate',
    '/v2/models/{model}/generate_stream',
  ].flatMap((path) => [get(path, notServed), post(path, notServed)]),
];

/**
 * Finds the route of a request. Throws HttpError: 404 for a path without a route, 405 for one with routes of other
 * methods only.
 */
export function findRoute(
  method: string,
  url: string,
): { route: Route; variables: ReadonlyMap<string, string> } {
  const path = url.split('?', 1)[0]!.split('/');
  const allowed: string[] = [];
  for (const route of ROUTES) {
    const variables = route.path.match(path);
    if (variables === null) continue;
    if (route.method === method) return { route, variables };
    allowed.push(route.method);
  }
  if (allowed.length === 0) throw new HttpError(404, 'this server has nothing under this path');
  throw new HttpError(405, `this path takes ${allowed.join(' and ')} requests only`, {
    allow: allowed.join(', '),
  });
}

function get(path: string, answer: Answering): Route {
  return { method: 'GET', path: new PathPattern(path), answer };
}

function post(path: string, answer: Answering): Route {
  return { method: 'POST', path: new PathPattern(path), answer };
}

/** A route of a model, with and without a version in its path. */
function ofModel(
  route: (path: string, answer: Answering) => Route,
  rest: string,
  answer: Answering,
): Route[] {
  return ['/v2/models/{model}', '/v2/models/{model}/versions/{version}'].map((model) =>
    route(`${model}${rest}`, answer),
  );
}

/** A route of the model repository, with and without the name of a repository in its path. */
function ofRepository(rest: string, answer: Answering): Route[] {
  return ['/v2/repository', '/v2/repository/{repository}'].map((start) => post(`${start}${rest}`, answer));
}

/** As Triton answers health checks: with a status alone. */
function health(isGood: boolean): Answer {
  return emptyAnswer(isGood ? 200 : 400);
}

function notServed(): never {
  throw new HttpError(501, 'this server does not have this extension of the protocol');
}

async function repositoryRequest({ path, body }: Exchange): Promise<RepositoryRequest> {
  return {
    repository: path('repository'),
    model: path('model'),
    parameters: readParameterNames(await body()),
  };
}

async function infer({ service, headers, path, body, onClose }: Exchange): Promise<Answer> {
  const jsonLength = headers['inference-header-content-length'];
  const model = { name: path('model'), version: path('version') };
  const call = readInferCall(await body(), jsonLength?.toString(), model);
  const reply = await new Promise<Reply>((resolve) => onClose(service.infer(call.request, resolve)));
  if (reply.error !== null) throw reply.error;
  return inferAnswer(call, reply);
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new HttpError(400, 'the path is not valid percent-encoding');
  }
}

/** A request as a route sees it. */
interface Exchange {
  readonly service: GuardService;
  readonly headers: IncomingHttpHeaders;
  /** The variable segments of the path, such as `model`; '' for one that the route does not have. */
  readonly path: (name: string) => string;
  /** Reads the body, within the limits of the server. */
  readonly body: () => Promise<Buffer>;
  /** Calls `withdraw` when the client has gone or the response is sent. */
  readonly onClose: (withdraw: () => void) => void;
}
