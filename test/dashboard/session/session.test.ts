import { expect, it } from 'vitest';
import { temporaryFolder } from '../../helpers/cli.ts';
import { logIn, serveDashboard } from '../../helpers/dashboard.ts';

it('opens with the token of the printed link, and with nothing else', async () => {
  const { origin, token, fetch: loggedIn } = await serveDashboard({ out: await temporaryFolder() });
  expect((await fetch(`${origin}/api/session`)).status).toBe(401);
  expect(await (await loggedIn('/api/session')).json()).toMatchObject({ may_control: true });
  await expect(logIn(origin, `${token}x`)).rejects.toThrow('login: 401');
  const bearer = (sent: string): Promise<Response> =>
    fetch(`${origin}/api/session`, { headers: { authorization: `Bearer ${sent}` } });
  expect((await bearer(token)).status).toBe(200);
  expect((await bearer(`${token}x`)).status).toBe(401);
  const cookie = `guardsweep-${new URL(origin).port}=${token}`;
  expect((await fetch(`${origin}/api/session`, { headers: { cookie } })).status).toBe(401);
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
  const served = await serveDashboard({ out: await temporaryFolder(), sessionLifetimeMs: 2000 });
  const { origin, token } = served;
  const { cookie, pageKey } = await logIn(origin, token);
  const session = (): Promise<Response> => fetch(`${origin}/api/session`, { headers: { cookie } });
  expect((await session()).status).toBe(200);
  const response = await fetch(`${origin}/api/session`, {
    method: 'DELETE',
    headers: { cookie, origin, 'content-type': 'application/json', 'x-page-key': pageKey },
  });
  expect(response.status).toBe(204);
  expect(response.headers.getSetCookie()[0]).toContain('Max-Age=0');
  expect((await session()).status).toBe(401);
  await expect.poll(async () => (await served.fetch('/api/session')).status).toBe(401);
});

it('the cookie is out of reach for scripts and other sites, and for http where the page is https', async () => {
  const { origin, token } = await serveDashboard({ out: await temporaryFolder() });
  const cookieFor = async (from: string): Promise<string> => {
    const response = await fetch(`${origin}/api/session`, {
      method: 'POST',
      headers: { origin: from, 'content-type': 'application/json' },
      body: JSON.stringify({ token }),
    });
    return response.headers.getSetCookie()[0]!;
  };
  expect(await cookieFor(origin)).toMatch(
    /^guardsweep-\d+=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/,
  );
  expect(await cookieFor(origin.replace('http:', 'https:'))).toMatch(/; SameSite=Strict; Secure$/);
});

it('ten wrong tokens have the next wrong one wait, and never refuse the right one', async () => {
  const { origin, token, fetch: loggedIn } = await serveDashboard({ out: await temporaryFolder() });
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
  const { origin } = await serveDashboard({ out: await temporaryFolder() });
  const headers = { origin, 'content-type': 'application/json' };
  const send = async (length: number, isStream: boolean): Promise<number> => {
    const text = JSON.stringify({ token: 'x'.repeat(length) });
    const body = isStream ? new Blob([text]).stream() : text;
    return (await fetch(`${origin}/api/session`, { method: 'POST', headers, body, duplex: 'half' })).status;
  };
  expect([await send(4000, false), await send(4000, true)]).toEqual([401, 401]);
  expect([await send(4096, false), await send(4096, true)]).toEqual([413, 413]);
});

it('whoever has the cookie alone, as a server on another port may, neither sees content nor changes anything', async () => {
  const served = await serveDashboard({ out: await temporaryFolder() });
  const { origin, token, cookie, pageKey } = served;
  const other = await logIn(origin, token);
  const post = async (path: string, key: string | null, method = 'POST'): Promise<number> => {
    const headers = { cookie, origin, 'content-type': 'application/json' };
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
  expect((await served.fetch('/api/session')).status).toBe(200);
});

it('decides nothing for somebody without a name', async () => {
  const { origin, token } = await serveDashboard({ out: await temporaryFolder() });
  const { cookie, pageKey } = await logIn(origin, token, null);
  const headers = { cookie, origin, 'content-type': 'application/json', 'x-page-key': pageKey };
  const session = await fetch(`${origin}/api/session`, { headers });
  expect(await session.json()).toMatchObject({ reviewer: null });
  for (const [path, body] of [
    ['items/0/reviews', { decision: 'allow' }],
    ['reviews', { items: [{ seq: 0, decision: 'allow', after: 0 }] }],
  ] as const) {
    const request = { method: 'POST', headers, body: JSON.stringify(body) };
    const answer = await fetch(`${origin}/api/runs/none/${path}`, request);
    expect([answer.status, await answer.text()]).toEqual([409, expect.stringContaining('give your name')]);
  }
});
