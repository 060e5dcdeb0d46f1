import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rawRequest } from '../raw-request.ts';
import { startDashboard, type ServedDashboard } from '../../helpers/dashboard.ts';

let served: ServedDashboard;

const send = async (method: string, path: string, headers: Record<string, string>, body = '') =>
  (await rawRequest(served.origin, [method, path], headers, body)).short;

describe('requests that change something', () => {
  beforeAll(async () => {
    served = await startDashboard({ out: join(tmpdir(), 'guardsweep-no-such-folder'), roots: [tmpdir()] });
  });
  afterAll(() => served.close());

  const json = 'application/json';
  const own = (): string => served.origin;
  const EVIL = 'http://evil.example';
  type Case = [what: string, origin: string | null, type: string | null, expected: string, host?: string];
  /** `own` is our origin. */
  const cases: Case[] = [
    ['from our page', 'own', json, '404 NOT_FOUND'],
    ['with a charset', 'own', `${json}; charset=utf-8`, '404 NOT_FOUND'],
    ['without an Origin', null, json, '403 FORBIDDEN'],
    ['from another site', EVIL, json, '403 FORBIDDEN'],
    ['from another port', 'http://127.0.0.1:1', json, '403 FORBIDDEN'],
    ['from a sandboxed page', 'null', json, '403 FORBIDDEN'],
    ['as a form', 'own', 'text/plain', '415 UNSUPPORTED_TYPE'],
    ['as a form with files', 'own', `multipart/form-data; boundary=${json}`, '415 UNSUPPORTED_TYPE'],
    ['without a type', 'own', null, '415 UNSUPPORTED_TYPE'],
    ['for another host', 'own', json, '403 FORBIDDEN', 'evil.example'],
    ['after DNS rebinding', EVIL, json, '403 FORBIDDEN', 'evil.example'],
  ];
  const headersOf = ([, origin, type, , host]: Case): Record<string, string> => ({
    ...(origin === null ? {} : { origin: origin === 'own' ? own() : origin }),
    ...(type === null ? {} : { 'content-type': type }),
    ...(host === undefined ? {} : { host }),
  });

  it.each(cases)('%s', async (...given: Case) => {
    const { cookie, pageKey, token } = served;
    const [, , , expected] = given;
    const sent = { cookie, 'x-page-key': pageKey, ...headersOf(given) };
    expect(await send('POST', '/api/runs/none/actions/pause', sent, '{}')).toBe(expected);
    if (expected === '404 NOT_FOUND') return;
    expect(await send('POST', '/api/session', headersOf(given), JSON.stringify({ token }))).toBe(expected);
  });

  it('need a session or the token', async () => {
    const headers = { origin: own(), 'content-type': json };
    expect(await send('POST', '/api/runs/none/actions/pause', headers, '{}')).toBe('401 UNAUTHORIZED');
    const { token } = served;
    const program = { authorization: `Bearer ${token}`, 'content-type': json };
    expect(await send('POST', '/api/runs/none/actions/pause', program, '{}')).toBe('404 NOT_FOUND');
    const evil = { ...program, origin: 'http://evil.example' };
    expect(await send('POST', '/api/runs/none/actions/pause', evil, '{}')).toBe('403 FORBIDDEN');
  });

  it('have a body that is JSON, as the request needs it', async () => {
    const { cookie, pageKey } = served;
    const headers = { cookie, 'x-page-key': pageKey, origin: own(), 'content-type': json };
    const path = '/api/session/reviewer';
    const bodies = ['', '{', 'null', '[]', '{"name":""}', '{"name":"x","more":1}', '{"name":5}'];
    for (const body of [...bodies, '{"name":"x","__proto__":{}}', `${'['.repeat(200_000)}`]) {
      expect(await send('POST', path, headers, body), body.slice(0, 40)).toBe('400 INVALID_REQUEST');
    }
    expect(await send('POST', path, headers, ' '.repeat(1024 * 1024 + 1))).toBe('413 TOO_LARGE');
  });

  it('no page of another port reads with our cookie, not even blindly', async () => {
    const { cookie } = served;
    const from = (site: string): Promise<string> =>
      send('GET', '/api/runs', { cookie, 'sec-fetch-site': site });
    for (const site of ['same-site', 'cross-site', 'x']) expect(await from(site)).toBe('403 FORBIDDEN');
    for (const site of ['same-origin', 'none']) expect(await from(site)).toBe('200');
  });

  it('GET is for reading only, from our Host', async () => {
    const { cookie } = served;
    expect(await send('GET', '/api/runs', { cookie, host: 'evil.example' })).toBe('403 FORBIDDEN');
    expect(await send('GET', '/', { host: 'evil.example' })).toBe('403 FORBIDDEN');
    const paths = '/api/runs/none/actions/pause /api/session/ /api/runs/ /api/none /nowhere'.split(' ');
    for (const path of paths) {
      expect(await send('GET', path, { cookie }), path).toBe('404 NOT_FOUND');
      expect(await send('GET', path, {}), path).toBe('401 UNAUTHORIZED');
    }
  });
});
