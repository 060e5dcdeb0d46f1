import { expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import type { RedisLink } from '../../../src/queue/redis/link.ts';
import { RedisQueue } from '../../../src/queue/redis/redis-queue.ts';
import { readValue } from '../../../src/queue/redis/values.ts';
import { linkForTest, redisForTest } from '../../helpers/redis/redis.ts';
import { numbers } from '../conformance.ts';

const never = new AbortController().signal;

function queueOn(link: RedisLink, name: string): RedisQueue<number> {
  const options = { name, codec: numbers, bound: 1000, lockMs: 5000 };
  const queue = new RedisQueue(link, { ...options, unreadable: async () => {} });
  onTestFinished(() => queue.close());
  return queue;
}

it('the first of malformed keys is named, and all are skipped', async () => {
  const said: string[] = [];
  const link = await linkForTest(await redisForTest(), said);
  for (let at = 0; at < 40; at++) {
    const key = link.key('alive', `${at}\x1b[2J`);
    await link.redis.set(key, at % 2 === 0 ? '{' : '{"lastsMs":-1}');
    expect(await readValue(link, key, z.object({ lastsMs: z.int().min(0) }), never)).toBe('unreadable');
  }
  const key = 'Redis key {guardsweep}:alive:0\\x1b[2J';
  expect(said).toEqual([`${key} is malformed, or of another version; such keys are skipped`]);
});

it('a name with characters of a pattern matches only itself', async () => {
  const link = await linkForTest(await redisForTest());
  const [hostile, other] = [queueOn(link, 'result[s]?*'), queueOn(link, 'results-x')];
  await other.put(1, never);
  await hostile.put(1, never);
  await hostile.obliterate(never);
  expect(await hostile.has('n-1', never)).toBe(false);
  expect(await other.has('n-1', never)).toBe(true);
});
