import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { RedisQueue } from '../../../src/queue/redis/redis-queue.ts';
import { TestRedis, linkForTest } from '../../helpers/redis/redis.ts';
import { settled } from '../../helpers/settled.ts';
import { consumeUntil, numbers, queueConformance } from '../conformance.ts';

const never = new AbortController().signal;

let redis: TestRedis;
beforeAll(async () => void (redis = await TestRedis.start()));
afterAll(() => redis.stop());

let made = 0;
async function makeNumbers(bound: number): Promise<RedisQueue<number>> {
  const options = { name: `numbers-${made++}`, codec: numbers, bound, lockMs: 30_000 };
  const queue = new RedisQueue(await linkForTest(redis), { ...options, unreadable: async () => {} });
  onTestFinished(() => queue.close());
  return queue;
}

queueConformance('redis', makeNumbers);

it('a name that is waiting or being handled is not added twice, and is free again afterwards', async () => {
  const queue = await makeNumbers(100);
  await queue.put(7, never);
  await queue.put(7, never);
  expect(await queue.depth(never)).toMatchObject({ waiting: 1 });
  expect(await queue.has('n-7', never)).toBe(true);
  let seen = 0;
  const consuming = consumeUntil(
    queue,
    () => seen === 2,
    async () => void seen++,
    1,
  );
  await settled(async () => !(await queue.has('n-7', never)));
  await queue.put(7, never);
  await consuming;
});
