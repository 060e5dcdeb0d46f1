import { expect, it } from 'vitest';
import { temporaryFolder } from '../../helpers/cli.ts';
import { logIn, serveDashboard } from '../../helpers/dashboard.ts';

it('opens with the token of the printed link, and with nothing else', async () => {
  const { origin, token, fetch: loggedIn } = await serveDashboard({ out: await temporaryFolder() });
  expect((await fetch(`${origin}/api/session`)).status).toBe(401);
  expect(await (await loggedIn('/api/session')).json()).toMatchObject({ may_control: true });
  await expect(logIn(origin, `${token}x`)).rejects.toThrow('login: 401');
  const bearer = await fetch(`${origin}/api/session`, { headers: { authorization: `Bearer ${token}` } });
  expect(bearer.status).toBe(200);
});
