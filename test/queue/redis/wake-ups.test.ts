import { expect, it, onTestFinished } from 'vitest';
import { WakeUps } from '../../../src/queue/redis/wake-ups.ts';
import { linkForTest, redisForTest } from '../../helpers/redis/redis.ts';

const TICK = { cron: '* * * * * *', timezone: 'UTC' };

it('wakes at the times that are set, also after Redis lost its data, until they are removed', async () => {
  const redis = await redisForTest();
  const link = await linkForTest(redis);
  let woken = 0;
  const wakeUps = new WakeUps(link, () => void woken++, new AbortController().signal);
  onTestFinished(() => wakeUps.close());
  wakeUps.set(new Map([['tick', TICK]]));
  await expect.poll(() => woken).toBeGreaterThan(2);

  await redis.kill();
  await redis.boot();
  const before = woken;
  await expect.poll(() => woken, { timeout: 60_000 }).toBeGreaterThan(before + 1);

  wakeUps.set(new Map());
  const left = (): Promise<number> => link.redis.zcard(link.key('schedules', 'repeat'));
  await expect.poll(left).toBe(0);
});
