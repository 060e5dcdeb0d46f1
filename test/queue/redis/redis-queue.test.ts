import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { RedisQueue, type Delivery } from '../../../src/queue/redis/redis-queue.ts';
import { TestRedis, linkForTest, redisForTest } from '../../helpers/redis/redis.ts';
import { settled } from '../../helpers/settled.ts';
import { numbers, queueConformance } from '../conformance.ts';

const never = new AbortController().signal;

let shared: TestRedis;
beforeAll(async () => void (shared = await TestRedis.start()));
afterAll(() => shared.stop());

let made = 0;
async function makeNumbers(
  redis: TestRedis,
  { bound = 100, name = `numbers-${made++}`, said = [] as string[] } = {},
): Promise<RedisQueue<number>> {
  const queue = new RedisQueue<number>(await linkForTest(redis, said), {
    name,
    codec: numbers,
    bound,
    lockMs: 30_000,
    unreadable: async () => {},
  });
  onTestFinished(() => queue.close());
  return queue;
}

/** Takes all values of a queue until `end`. */
function consumer(queue: RedisQueue<number>, concurrency: number) {
  const stop = new AbortController();
  const seen: number[] = [];
  const consuming = queue.consume(async (value) => void seen.push(value), {
    concurrency,
    signal: stop.signal,
  });
  const end = async (): Promise<void> => {
    stop.abort(new Error('enough'));
    await expect(consuming).rejects.toThrow('enough');
  };
  return { seen, end };
}

queueConformance('redis', (bound) => makeNumbers(shared, { bound }));

it('a name that is waiting or being handled is not added twice, and is free again afterwards', async () => {
  const queue = await makeNumbers(shared);
  await queue.put(7, never);
  await queue.put(7, never);
  expect(await queue.depth(never)).toMatchObject({ waiting: 1 });
  expect(await queue.has('n-7', never)).toBe(true);
  const { seen, end } = consumer(queue, 1);
  await settled(async () => !(await queue.has('n-7', never)));
  await queue.put(7, never);
  await settled(() => seen.length === 2);
  await end();
});

it('counts the processes that died with a value, and hands their note on', async () => {
  const redis = await redisForTest();
  const link = await linkForTest(redis);
  const [first, second] = [await makeNumbers(redis, { name: 'n' }), await makeNumbers(redis, { name: 'n' })];
  const end = new AbortController();
  const deliveries: Delivery[] = [];
  const consume = (queue: RedisQueue<number>): Promise<void> => {
    const handle = async (_: number, signal: AbortSignal, delivery: Delivery): Promise<void> => {
      deliveries.push(delivery);
      await delivery.setNote('it was here', signal);
      if (deliveries.length === 1) await new Promise(() => {});
    };
    return queue.consume(handle, { concurrency: 1, signal: end.signal }).catch(() => {});
  };
  await first.put(1, never);
  void consume(first);
  await settled(() => deliveries.length === 1);
  await settled(async () => (await link.redis.hget(link.key('n', 'n-1'), 'progress')) !== null);
  // As when its process dies: nobody renews the lock.
  await link.redis.del(link.key('n', 'n-1', 'lock'));
  const consuming = consume(second);
  await settled(() => deliveries.length === 2, 40_000);
  end.abort(new Error('enough'));
  await consuming;
  expect(deliveries.map(({ deaths, note }) => [deaths, note])).toEqual([
    [0, null],
    [1, 'it was here'],
  ]);
});

it('goes on after Redis was away and lost everything, and says so once', async () => {
  const redis = await redisForTest();
  const said: string[] = [];
  const queue = await makeNumbers(redis, { said });
  const { seen, end } = consumer(queue, 2);
  await queue.add(1, never);
  await settled(() => seen.length === 1);
  await redis.kill();
  const adding = queue.put(2, never);
  await settled(() => said.some((line) => line.includes('unavailable')));
  await redis.boot();
  await adding;
  await settled(() => seen.includes(2));
  await end();
  expect(said.filter((line) => line.includes('unavailable'))).toHaveLength(1);
  expect(said.filter((line) => line.includes('back'))).toHaveLength(1);
});
