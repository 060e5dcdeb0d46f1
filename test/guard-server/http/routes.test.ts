import { describe, expect, it, test } from 'vitest';
import { type HttpReply, replyOf } from '../../helpers/guards/http-infer.ts';
import { sharedGuard } from '../../helpers/guards/shared-guard.ts';

const loaded = { modelControl: 'explicit', loadModel: 'guard' } as const;
const { server, client: grpc } = await sharedGuard({ httpPort: 0, ...loaded });

async function ask(method: string, path: string, body: string | null = null): Promise<HttpReply> {
  return replyOf(await fetch(`${server.httpAddress!}${path}`, { method, body }));
}

const get = (path: string): Promise<HttpReply> => ask('GET', path);
const post = (path: string, body?: string): Promise<HttpReply> => ask('POST', path, body);

/** The paths of a model: of its current version, and of a named one. */
const MODEL = ['/v2/models/guard', '/v2/models/guard/versions/1'];

test.each([
  ['/v2/health/live', 200],
  ['/v2/health/ready', 200],
  ['/v2/models/guard/ready', 200],
  ['/v2/models/guard/versions/9/ready', 400],
])('health: %s answers %i, without a body', async (path, status) => {
  expect(await get(path)).toMatchObject({ status, text: '' });
});

describe('descriptions', () => {
  it('of the server are those over gRPC (C-420)', async () => {
    const { status, json, headers } = await get('/v2');
    expect({ status, json }).toEqual({ status: 200, json: await grpc.call('ServerMetadata', {}) });
    expect(json).toMatchObject({ extensions: expect.arrayContaining(['binary_tensor_data']) as string[] });
    expect(headers.get('content-type')).toBe('application/json');
  });

  test.each(MODEL)('under %s are those over gRPC', async (path) => {
    expect((await get(path)).json).toEqual(await grpc.call('ModelMetadata', { name: 'guard' }));
    const config = (await get(`${path}/config`)).json;
    expect(await grpc.config()).toMatchObject(config as object);
    const { json } = await get(`${path}/stats`);
    expect(json).toMatchObject(await grpc.call<object>('ModelStatistics', { name: 'guard' }));
  });
});

describe('the model repository', () => {
  it('lists, unloads and loads the model', async () => {
    const ready = { name: 'guard', version: '1', state: 'READY' };
    expect((await post('/v2/repository/index')).json).toEqual([ready]);
    const dependents = '{"parameters":{"unload_dependents":true}}';
    const unloaded = await post('/v2/repository/models/guard/unload', dependents);
    expect(unloaded).toMatchObject({ status: 200, text: '' });
    expect((await get('/v2/models/guard')).status).toBe(404);
    expect((await get('/v2/models/guard/versions/1')).status).toBe(503);
    expect((await post('/v2/repository/index', '{"ready":true}')).json).toEqual([]);
    expect((await post('/v2/repository/index')).json).toMatchObject([{ state: 'UNAVAILABLE' }]);
    expect(await post('/v2/repository/models/guard/load')).toMatchObject({ status: 200, text: '' });
    expect((await get('/v2/models/guard/ready')).status).toBe(200);
  });
});

test.each([
  ['GET', '/v2/models/other', null, 404, /^Request for unknown model: 'other' is not found$/],
  ['GET', '/v2/models/guard/versions/7/config', null, 404, /version 7 is not found/],
  ['GET', '/v2/models/gu%61rd/versions/7', null, 404, /'guard' version 7/],
  ['GET', '/v2/models/%ff', null, 400, /percent-encoding/],
  ['GET', '/v2/models/guard/infer', null, 501, /^this server does not serve GET \/v2\/models\/guard\/infer$/],
  ['POST', '/v2/repository/models/other/load', '', 500, /failed to load 'other'/],
  ['POST', '/v2/repository/index', '{"ready":1}', 400, /ready: .*expected boolean/],
  ['POST', '/v2/repository/second/index', '', 501, /single model repository/],
])('an error: %s %s with %j: %i (C-719)', async (method, path, body, status, error) => {
  const reply = await ask(method, path, body);
  expect(reply.status).toBe(status);
  expect(Object.keys(reply.json!)).toEqual(['error']);
  expect(reply.json!.error).toMatch(error);
  expect(reply.headers.get('content-type')).toBe('application/json');
});
