import { expect, it, onTestFinished } from 'vitest';
import { Queue } from 'bullmq';
import { z } from 'zod';
import type { RedisLink } from '../../../src/queue/redis/link.ts';
import { RedisQueue } from '../../../src/queue/redis/redis-queue.ts';
import { readValue } from '../../../src/queue/redis/values.ts';
import { linkForTest, redisForTest } from '../../helpers/redis/redis.ts';
import { settled } from '../../helpers/settled.ts';
import { numbers } from '../conformance.ts';

const never = new AbortController().signal;

interface Consumed {
  readonly link: RedisLink;
  readonly queue: RedisQueue<number>;
  readonly said: readonly string[];
  readonly seen: readonly number[];
  readonly unreadable: readonly string[];
}

function queueOn(link: RedisLink, name: string, unreadable: string[] = []): RedisQueue<number> {
  const queue = new RedisQueue(link, {
    ...{ name, codec: numbers, bound: 1000, lockMs: 5000 },
    unreadable: async (id) => void unreadable.push(id),
  });
  onTestFinished(() => queue.close());
  return queue;
}

async function consumed(): Promise<Consumed> {
  const said: string[] = [];
  const link = await linkForTest(await redisForTest(), said);
  const seen: number[] = [];
  const unreadable: string[] = [];
  const queue = queueOn(link, 'numbers', unreadable);
  const end = new AbortController();
  const handle = async (value: number): Promise<void> => void seen.push(value);
  const consuming = queue.consume(handle, { concurrency: 4, signal: end.signal }).catch(() => {});
  onTestFinished(async () => {
    end.abort(new Error('the test is over'));
    await consuming;
  });
  return { link, queue, said, seen, unreadable };
}

it('a job that is not one of ours is dropped, and the others are handled', async () => {
  const { link, queue, seen, unreadable } = await consumed();
  const foreign = new Queue('numbers', {
    connection: link.redis,
    prefix: link.address.prefix,
    skipMetasUpdate: true,
  });
  await foreign.add('other', { value: 'x' }, { jobId: 'foreign' });
  await queue.put(1, never);
  await settled(() => seen.includes(1) && unreadable.includes('foreign'));
  await settled(async () => (await queue.depth(never)).active === 0);
});

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

it('a name with characters of a pattern stands for itself alone', async () => {
  const link = await linkForTest(await redisForTest());
  const [hostile, other] = [queueOn(link, 'result[s]?*'), queueOn(link, 'results-x')];
  await other.put(1, never);
  await hostile.put(1, never);
  await hostile.obliterate(never);
  expect(await hostile.has('n-1', never)).toBe(false);
  expect(await other.has('n-1', never)).toBe(true);
});
