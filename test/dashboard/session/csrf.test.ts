import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rawRequest } from '../raw-request.ts';
import { startDashboard, type ServedDashboard } from '../../helpers/dashboard.ts';

let served: ServedDashboard;

const send = async (
  method: string,
  path: string,
  headers: Record<string, string>,
  body = '',
): Promise<string> => (await rawRequest(served.origin, [method, path], headers, body)).short;

describe('requests that change something', () => {
  beforeAll(async () => {
    served = await startDashboard({ out: join(tmpdir(), 'guardsweep-no-such-folder'), roots: [tmpdir()] });
  });
  afterAll(() => served.close());

  const json = 'application/json';
  const own = (): string => served.origin;
  const cases: readonly (readonly [what: string, headers: () => Record<string, string>, expected: string])[] =
    [
      ['from our page', () => ({ origin: own(), 'content-type': json }), '404 NOT_FOUND'],
      [
        'with a charset',
        () => ({ origin: own(), 'content-type': `${json}; charset=utf-8` }),
        '404 NOT_FOUND',
      ],
      ['without an Origin', () => ({ 'content-type': json }), '403 FORBIDDEN'],
      ['from another site', () => ({ origin: 'http://evil.example', 'content-type': json }), '403 FORBIDDEN'],
      ['from another port', () => ({ origin: 'http://127.0.0.1:1', 'content-type': json }), '403 FORBIDDEN'],
      ['from a sandboxed page', () => ({ origin: 'null', 'content-type': json }), '403 FORBIDDEN'],
      ['as a form', () => ({ origin: own(), 'content-type': 'text/plain' }), '415 UNSUPPORTED_TYPE'],
      [
        'as a form with files',
        () => ({ origin: own(), 'content-type': 'multipart/form-data; boundary=application/json' }),
        '415 UNSUPPORTED_TYPE',
      ],
      ['without a type', () => ({ origin: own() }), '415 UNSUPPORTED_TYPE'],
      [
        'for another host',
        () => ({ origin: own(), host: 'evil.example', 'content-type': json }),
        '403 FORBIDDEN',
      ],
      [
        'after DNS rebinding',
        () => ({ origin: 'http://evil.example', host: 'evil.example', 'content-type': json }),
        '403 FORBIDDEN',
      ],
    ];

  it.each(cases)('%s', async (_, headers, expected) => {
    const { cookie, pageKey } = served;
    const sent = { cookie, 'x-page-key': pageKey, ...headers() };
    const asked = await send('POST', '/api/runs/none/actions/pause', sent, '{}');
    expect(asked).toBe(expected);
  });

  it.each(cases.filter(([, , expected]) => expected.startsWith('4') && expected !== '404 NOT_FOUND'))(
    'are refused %s for the login too',
    async (_, headers, expected) => {
      expect(await send('POST', '/api/session', headers(), JSON.stringify({ token: served.token }))).toBe(
        expected,
      );
    },
  );

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
    for (const path of [
      '/api/runs/none/actions/pause',
      '/api/session/',
      '/api/runs/',
      '/api/none',
      '/nowhere',
    ]) {
      expect(await send('GET', path, { cookie }), path).toBe('404 NOT_FOUND');
      expect(await send('GET', path, {}), path).toBe('401 UNAUTHORIZED');
    }
  });
});
