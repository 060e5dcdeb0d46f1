import { setMaxListeners } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RedisLink } from '../../../../src/queue/redis/link.ts';
import { RedisQueue, type JobCodec } from '../../../../src/queue/redis/redis-queue.ts';
import { linkForTest, redisForTest } from '../../../helpers/redis/redis.ts';
import { settled } from '../../../helpers/settled.ts';

const never = new AbortController().signal;
setMaxListeners(0, never);

const YEAR_MS = 365 * 86_400_000;
const BOUND = 64;

const numbers: JobCodec<number> = {
  id: (value) => `n-${value}`,
  encode: (value) => ({ value }),
  decode: (data) => (data as { value: number }).value,
};

interface Consumed {
  readonly link: RedisLink;
  readonly queue: RedisQueue<number>;
  /** Values that were taken. */
  readonly taken: readonly number[];
  /** A key of the queue. */
  readonly key: (name: string) => string;
  /** Has `handle` take values from now on. */
  begin(handle?: () => Promise<void>): void;
}

async function consumed(lockMs = 1500): Promise<Consumed> {
  const link = await linkForTest(await redisForTest());
  const taken: number[] = [];
  const queue = new RedisQueue(link, {
    name: 'numbers',
    codec: numbers,
    bound: BOUND,
    lockMs,
    unreadable: async () => {},
  });
  const end = new AbortController();
  let consuming: Promise<unknown> = Promise.resolve();
  onTestFinished(async () => {
    end.abort(new Error('the test is over'));
    await consuming;
    await queue.close();
  });
  const begin = (handle = (): Promise<void> => Promise.resolve()): void => {
    const take = (value: number): Promise<void> => {
      taken.push(value);
      return handle();
    };
    consuming = queue.consume(take, { concurrency: 4, signal: end.signal }).catch(() => {});
  };
  return { link, queue, taken, key: (name) => link.key('numbers', name), begin };
}

const LOCKS: Readonly<Record<string, (link: RedisLink, lock: string) => Promise<unknown>>> = {
  'without an end': ({ redis }, lock) => redis.set(lock, 'x'),
  'for a year': ({ redis }, lock) => redis.set(lock, 'x', 'PX', YEAR_MS),
  'that is a list': ({ redis }, lock) => redis.multi().del(lock).rpush(lock, 'x').exec(),
};

describe('a job that was locked by somebody else while it was handled', () => {
  it.each(Object.entries(LOCKS))('%s, leaves the queue', async (_, put) => {
    const all = await consumed();
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    all.begin(() => gate);
    await all.queue.put(1, never);
    await settled(() => all.taken.includes(1));
    await put(all.link, all.key('n-1:lock'));
    open();
    await settled(async () => (await all.queue.state('n-1', never)) === 'unknown');
  });
});

describe('a name of no job is unknown soon', () => {
  it.each(['completed', 'failed', 'waiting-children'])('when it stands among the %s', async (name) => {
    const all = await consumed();
    await all.link.redis.zadd(all.key(name), 1, 'n-1');
    all.begin();
    await settled(async () => (await all.queue.state('n-1', never)) === 'unknown');
  });

  it.each(['paused', 'active'])('when it stands among the %s', async (name) => {
    const all = await consumed();
    await all.link.redis.lpush(all.key(name), 'n-1');
    all.begin();
    await settled(async () => (await all.queue.state('n-1', never)) === 'unknown');
  });
});

it.each([1e300, Number.POSITIVE_INFINITY, -1])('jobs that rest until %d leave room soon', async (score) => {
  const all = await consumed();
  const scored = Array.from({ length: BOUND }, (_, at) => [
    String(score).replace('Infinity', 'inf'),
    `x-${at}`,
  ]);
  await all.link.redis.zadd(all.key('delayed'), ...scored.flat());
  all.begin();
  expect(await all.queue.hasRoom(never)).toBe(false);
  await settled(() => all.queue.hasRoom(never));
});

it('a look for lost jobs is not put off for a year', async () => {
  const all = await consumed();
  await all.link.redis.set(all.key('stalled-check'), 'x', 'PX', YEAR_MS);
  await all.queue.put(1, never);
  await all.link.redis.lmove(all.key('wait'), all.key('active'), 'RIGHT', 'LEFT');
  all.begin();
  await settled(() => all.taken.includes(1));
});

it('a limit of the rate holds jobs up for seconds at most', async () => {
  const all = await consumed();
  await all.link.redis.hset(all.key('meta'), { max: '0', duration: String(YEAR_MS) });
  for (const value of [1, 2, 3]) await all.queue.put(value, never);
  all.begin();
  await settled(() => all.taken.length === 3);
});

it('a marker of a time to come holds jobs up for seconds at most', async () => {
  const all = await consumed();
  all.begin();
  await all.queue.put(1, never);
  await settled(() => all.taken.includes(1));
  await all.link.redis.zadd(all.key('marker'), 1e300, '0');
  await all.queue.put(2, never);
  await settled(() => all.taken.includes(2));
});

it('a job that was locked and then not handed out is not held for as long as its lock', async () => {
  const all = await consumed(120_000);
  for (const value of [1, 2]) await all.queue.put(value, never);
  await all.link.redis.set(all.key('marker'), 'x');
  all.begin();
  await settled(() => [1, 2].every((value) => all.taken.includes(value)));
});

it('a job without a name holds no other up', async () => {
  const all = await consumed();
  await all.link.redis.lpush(all.key('wait'), '', '', '', '');
  await all.queue.put(1, never);
  all.begin();
  await settled(() => all.taken.includes(1));
  await settled(async () => Object.values(await all.queue.depth(never)).every((jobs) => jobs === 0));
});

describe('jobs are taken in', () => {
  it.each(['id', 'pc'])('when %s can be counted no further', async (name) => {
    const all = await consumed();
    await all.link.redis.set(all.key(name), '9223372036854775807');
    await all.queue.put(1, never);
    all.begin();
    await settled(() => all.taken.includes(1));
  });

  it('when events can be numbered no further', async () => {
    const all = await consumed();
    const last = '18446744073709551615';
    await all.link.redis.xadd(all.key('events'), `${last}-${last}`, 'event', 'x');
    await all.queue.put(1, never);
    all.begin();
    await settled(() => all.taken.includes(1));
  });
});
