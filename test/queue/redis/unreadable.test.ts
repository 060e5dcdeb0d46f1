import { expect, it, onTestFinished } from 'vitest';
import { Queue } from 'bullmq';
import { Lease } from '../../../src/fleet/redis/lease.ts';
import type { RedisLink } from '../../../src/queue/redis/link.ts';
import { RedisQueue, type JobCodec } from '../../../src/queue/redis/redis-queue.ts';
import { linkForTest, redisForTest } from '../../helpers/redis/redis.ts';
import { settled } from '../../helpers/settled.ts';

const never = new AbortController().signal;

const numbers: JobCodec<number> = {
  id: (value) => `n-${value}`,
  encode: (value) => Buffer.from(JSON.stringify({ value })),
  envelope: (bytes) => JSON.parse(bytes.toString()) as object,
  sealNote: (_, note) => note,
  openNote: (_, sealed) => sealed,
  decode: (data) => {
    const { value } = data as { value: unknown };
    if (typeof value !== 'number') throw new Error('no number');
    return value;
  },
};

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

it('malformed keys are named once, and no more than a few of them', async () => {
  const said: string[] = [];
  const link = await linkForTest(await redisForTest(), said);
  for (let at = 0; at < 200; at++) {
    await link.redis.set(link.key('lease', `${at}\x1b[2J`), 'x'.repeat(100_000));
  }
  for (let at = 0; at < 400; at++) await new Lease(link, `${at % 200}\x1b[2J`, 'me', 60_000).take(never);
  expect(said).toHaveLength(33);
  expect(said[0]).toBe('Redis key {guardsweep}:lease:0\\x1b[2J: is too long; skipped');
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
