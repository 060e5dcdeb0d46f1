import { expect, it } from 'vitest';
import { temporaryFolder } from '../../helpers/cli.ts';
import { logIn, serveDashboard } from '../../helpers/dashboard.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

/** A dashboard over no runs. */
const served = async (more: { sessionLifetimeMs?: number } = {}) =>
  serveDashboard({ out: await temporaryFolder(), ...more });

/** Asks a dashboard for its session. */
const session = (origin: string, headers: Record<string, string> = {}, more: RequestInit = {}) =>
  fetch(`${origin}/api/session`, { headers, ...more });

it('opens with the token of the printed link, and with nothing else', async () => {
  const { origin, token, fetch: loggedIn } = await served();
  expect((await session(origin)).status).toBe(401);
  expect(await (await loggedIn('/api/session')).json()).toMatchObject({ may_control: true });
  await expect(logIn(origin, `${token}x`)).rejects.toThrow('login: 401');
  const bearer = (sent: string) => session(origin, { authorization: `Bearer ${sent}` });
  expect((await bearer(token)).status).toBe(200);
  expect((await bearer(`${token}x`)).status).toBe(401);
  const cookie = `guardsweep-${new URL(origin).port}=${token}`;
  expect((await session(origin, { cookie })).status).toBe(401);
});

it('the link has a token that was made for this process, not one that the user chose', async () => {
  const out = await temporaryFolder();
  const made = await serveDashboard({ out });
  expect(made.printed).toContain(`dashboard: ${made.origin}/login#token=${made.token}`);
  expect(made.token).toMatch(/^[\w-]{43}$/);
  const chosen = await serveDashboard({ out, token: 'a-token-of-the-environment' });
  expect(chosen.printed).toContain(`dashboard: ${chosen.origin}/login`);
  expect(chosen.printed.join()).not.toContain('a-token-of-the-environment');
});

it('a session ends when somebody logs out, and when its time is over', async () => {
  const { origin, token, fetch: loggedIn } = await served({ sessionLifetimeMs: 2000 });
  const { cookie, pageKey } = await logIn(origin, token);
  expect((await session(origin, { cookie })).status).toBe(200);
  const headers = { cookie, origin, ...JSON_TYPE, 'x-page-key': pageKey };
  const response = await session(origin, headers, { method: 'DELETE' });
  expect(response.status).toBe(204);
  expect(response.headers.getSetCookie()[0]).toContain('Max-Age=0');
  expect((await session(origin, { cookie })).status).toBe(401);
  await expect.poll(async () => (await loggedIn('/api/session')).status).toBe(401);
});

it('the cookie is out of reach for scripts and other sites, and for http where the page is https', async () => {
  const { origin, token } = await served();
  const cookieFor = async (from: string): Promise<string> => {
    const body = JSON.stringify({ token });
    const response = await session(origin, { origin: from, ...JSON_TYPE }, { method: 'POST', body });
    return response.headers.getSetCookie()[0]!;
  };
  expect(await cookieFor(origin)).toMatch(
    /^guardsweep-\d+=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
  );
  expect(await cookieFor(origin.replace('http:', 'https:'))).toMatch(/; SameSite=Strict; Secure$/);
});

it('ten wrong tokens have the next wrong one wait, and never refuse the right one', async () => {
  const { origin, token, fetch: loggedIn } = await served();
  const wrong = Array.from({ length: 10 }, (_, at) => logIn(origin, `wrong ${at}`).catch(String));
  expect(new Set(await Promise.all(wrong))).toEqual(new Set(['Error: login: 401']));
  await expect(logIn(origin, 'another')).rejects.toThrow('login: 429');
  const runs = async (bearer: string): Promise<number> =>
    (await fetch(`${origin}/api/runs`, { headers: { authorization: `Bearer ${bearer}` } })).status;
  expect([await runs('another'), await runs(token)]).toEqual([429, 200]);
  await logIn(origin, token);
  // Who is logged in is not affected.
  expect((await loggedIn('/api/session')).status).toBe(200);
});

it('a request to log in has 4 KB at most, with and without a declared length', async () => {
  const { origin } = await served();
  const send = async (length: number, isStream: boolean): Promise<number> => {
    const text = JSON.stringify({ token: 'x'.repeat(length) });
    const body = isStream ? new Blob([text]).stream() : text;
    const post = { method: 'POST', body, duplex: 'half' } as const;
    return (await session(origin, { origin, ...JSON_TYPE }, post)).status;
  };
  expect([await send(4000, false), await send(4000, true)]).toEqual([401, 401]);
  expect([await send(4096, false), await send(4096, true)]).toEqual([413, 413]);
});

it('whoever has the cookie alone, as a server on another port may, neither sees content nor changes anything', async () => {
  const { origin, token, cookie, pageKey, fetch: loggedIn } = await served();
  const other = await logIn(origin, token);
  const post = async (path: string, key: string | null, method = 'POST'): Promise<number> => {
    const headers = { cookie, origin, ...JSON_TYPE };
    const sent = key === null ? headers : { ...headers, 'x-page-key': key };
    return (await fetch(origin + path, { method, headers: sent, body: '{}' })).status;
  };
  const ofItem = ['content', 'media', 'thumbnail'].map((what) => `/api/runs/a/items/0/${what}`);
  for (const path of ['/api/runs', '/api/runs/a/items', ...ofItem]) {
    for (const key of [null, '', other.pageKey, cookie.split('=')[1]!, token])
      expect(await post(path, key)).toBe(401);
    expect(await post(path, pageKey)).not.toBe(401);
  }
  expect(await post('/api/session', null, 'DELETE')).toBe(401);
  expect((await loggedIn('/api/session')).status).toBe(200);
});

it('decides nothing for somebody without a name', async () => {
  const { origin, token } = await served();
  const { cookie, pageKey } = await logIn(origin, token, null);
  const headers = { cookie, origin, ...JSON_TYPE, 'x-page-key': pageKey };
  expect(await (await session(origin, headers)).json()).toMatchObject({ reviewer: null });
  for (const [path, body] of [
    ['items/0/reviews', { decision: 'allow' }],
    ['reviews', { items: [{ seq: 0, decision: 'allow', after: 0 }] }],
  ] as const) {
    const request = { method: 'POST', headers, body: JSON.stringify(body) };
    const answer = await fetch(`${origin}/api/runs/none/${path}`, request);
    expect([answer.status, await answer.text()]).toEqual([409, expect.stringContaining('give your name')]);
  }
});
