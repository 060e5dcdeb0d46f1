import { expect, it } from 'vitest';
import { Lease } from '../../../src/fleet/redis/lease.ts';
import { listPresent, Presence } from '../../../src/fleet/redis/presence.ts';
import { linkForTest, redisForTest } from '../../helpers/redis/redis.ts';
import { settled } from '../../helpers/settled.ts';

const never = new AbortController().signal;
const HALF_AN_HOUR_MS = 1_800_000;

it('a lease of one that is gone ends in its time, although the clock of Redis was set back', async () => {
  const link = await linkForTest(await redisForTest());
  const gone = new Lease(link, 'run', 'gone', 500);
  const next = new Lease(link, 'run', 'next', 500);
  expect(await gone.take(never)).toBe(true);
  // Ends of keys are times of day: with the clock half an hour back, this one is half an hour longer away.
  await link.redis.pexpire(link.key('lease', 'run'), HALF_AN_HOUR_MS);
  expect(await next.take(never)).toBe(false);
  await settled(() => next.take(never));
});

it('a process that is gone is forgotten in its time, although the clock of Redis was set back', async () => {
  const link = await linkForTest(await redisForTest());
  const presence = new Presence(link, 'worker', 'w', {
    describe: () => ({ lanes: ['text'] }),
    expiryMs: 500,
  });
  await presence.start();
  const [present] = await listPresent(link, 'worker', never);
  expect(present).toMatchObject({ id: 'w', details: { lanes: ['text'] } });
  const key = link.key('alive', 'worker', 'w');
  const said = (await link.redis.get(key))!;
  await presence.stop();
  const die = async (): Promise<void> => {
    await link.redis.sadd(link.key('workers'), 'w');
    await link.redis.set(key, said, 'PX', HALF_AN_HOUR_MS);
  };
  await die();
  expect(await listPresent(link, 'worker', never)).toHaveLength(1);
  await settled(async () => (await listPresent(link, 'worker', never)).length === 0);
});
