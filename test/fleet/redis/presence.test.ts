import { expect, it } from 'vitest';
import { listPresent, Presence } from '../../../src/fleet/redis/presence.ts';
import { linkForTest, redisForTest } from '../../helpers/redis/redis.ts';
import { settled } from '../../helpers/settled.ts';

const never = new AbortController().signal;

it('a process that announces itself no more is forgotten', async () => {
  const link = await linkForTest(await redisForTest());
  const describe = (): object => ({ lanes: ['text'] });
  const presence = new Presence(link, 'worker', 'w', { describe, expiryMs: 500 });
  await presence.start();
  const [present] = await listPresent(link, 'worker', never);
  expect(present).toMatchObject({ id: 'w', details: { lanes: ['text'] } });
  const said = (await link.redis.get(link.key('alive', 'worker', 'w')))!;
  await presence.stop();
  expect(await listPresent(link, 'worker', never)).toEqual([]);
  await link.redis.sadd(link.key('workers'), 'w');
  await link.redis.set(link.key('alive', 'worker', 'w'), said, 'PX', 500);
  expect(await listPresent(link, 'worker', never)).toHaveLength(1);
  await settled(async () => (await listPresent(link, 'worker', never)).length === 0);
});
