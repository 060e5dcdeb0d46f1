import { setMaxListeners } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { RedisLink } from '../../../../src/queue/redis/link.ts';
import { RedisQueue, type JobCodec } from '../../../../src/queue/redis/redis-queue.ts';
import { linkForTest, redisForTest } from '../../../helpers/redis/redis.ts';
import { settled } from '../../../helpers/settled.ts';
import { NONSENSE } from './nonsense.ts';

const never = new AbortController().signal;
setMaxListeners(0, never);

const numbers: JobCodec<number> = {
  id: (value) => `n-${value}`,
  encode: (value) => ({ value }),
  decode: (data) => {
    const { value } = data as { value: unknown };
    if (typeof value !== 'number') throw new Error('no number');
    return value;
  },
};

interface Consumed {
  readonly link: RedisLink;
  readonly queue: RedisQueue<number>;
  readonly seen: readonly number[];
  readonly unreadable: readonly string[];
  /** A key of the queue. */
  readonly key: (name: string) => string;
  begin(): void;
}

async function consumed(lockMs = 30_000): Promise<Consumed> {
  const link = await linkForTest(await redisForTest());
  const seen: number[] = [];
  const unreadable: string[] = [];
  const queue = new RedisQueue(link, {
    name: 'numbers',
    codec: numbers,
    bound: 100_000,
    lockMs,
    unreadable: async (id) => void unreadable.push(id),
  });
  const end = new AbortController();
  let consuming: Promise<unknown> = Promise.resolve();
  onTestFinished(async () => {
    end.abort(new Error('the test is over'));
    await consuming;
    await queue.close();
  });
  const begin = (): void => {
    const handle = async (value: number): Promise<void> => void seen.push(value);
    consuming = queue.consume(handle, { concurrency: 4, signal: end.signal }).catch(() => {});
  };
  return { link, queue, seen, unreadable, key: (name) => link.key('numbers', name), begin };
}

/** A job as BullMQ keeps it, with other fields. */
async function forge(
  { link, key }: Consumed,
  id: string,
  fields: object = {},
  change: () => Promise<unknown> = () => Promise.resolve(),
): Promise<void> {
  const sound = { name: 'value', data: '{"value":"x"}', opts: '{}', timestamp: 1, delay: 0, priority: 0 };
  await link.redis.hset(key(id), { ...sound, ...fields });
  await change();
  await link.redis.lpush(key('wait'), id);
  await link.redis.zadd(key('marker'), 0, '0');
}

async function commands({ redis }: RedisLink): Promise<number> {
  return Number(/total_commands_processed:(\d+)/.exec(await redis.info('stats'))![1]);
}

const KEYS = [
  'wait',
  'active',
  'delayed',
  'prioritized',
  'paused',
  'stalled',
  'meta',
  'events',
  'stalled-check',
  'pc',
  'id',
  'limiter',
  'repeat',
  'completed',
  'marker',
];

describe('a queue works', () => {
  it.each(KEYS)('whatever its key %s holds', async (name) => {
    const all = await consumed();
    all.begin();
    let value = 0;
    for (const put of Object.values(NONSENSE)) {
      await put(all.link, all.key(name));
      await all.queue.put(++value, never);
      await all.queue.depth(never);
      await all.queue.state(`n-${value}`, never);
      // A feeder feeds again what was lost.
      if (!all.seen.includes(value)) await all.queue.remove(`n-${value}`, never);
      await all.queue.put(value, never);
      await settled(() => all.seen.includes(value));
    }
  });
});

describe('settings that we never make', () => {
  it.each([
    { paused: '1' },
    { concurrency: '0' },
    { concurrency: 'many' },
    { max: '0', duration: '999999999' },
    { max: 'x', duration: 'y' },
  ])('%j do not hold a queue up', async (settings) => {
    const all = await consumed();
    await all.link.redis.hset(all.key('meta'), settings);
    all.begin();
    await all.queue.put(1, never);
    await settled(() => all.seen.includes(1));
  });
});

const BAD_JOBS: Readonly<Record<string, object>> = {
  'data that is no JSON': { data: '{"value":' },
  'no data': { data: '' },
  'data null': { data: 'null' },
  'deep data': { data: '['.repeat(200_000) },
  'options that are no JSON': { opts: '{' },
  'options null': { opts: 'null' },
  'options with NaN': { opts: '{"x":NaN}' },
  'options that keep it': { opts: '{"removeOnComplete":false,"attempts":1000000}' },
  'a number that is none': { ats: 'many' },
  'a number that is too large': { ats: '9223372036854775807' },
  'stalls that are no number': { stc: 'x' },
  'progress that is no JSON': { progress: '{' },
  'a parent that is no JSON': { parent: '{' },
  'a parent': { parentKey: '{guardsweep}:other:1', parent: '{"id":"1","queueKey":"{guardsweep}:other"}' },
  'a repetition': { rjk: 'every:1', opts: '{"repeat":{"every":1}}' },
  'a repetition of an old form': { rjk: 'a:b:c:d:e' },
  'a failure ahead': { defa: 'x' },
  'the name of another': { id: 'n-1' },
};

describe('a job with', () => {
  it.each(Object.entries(BAD_JOBS))('%s is dropped, and nothing of it stays', async (_, fields) => {
    const all = await consumed(1500);
    await forge(all, 'bad', fields);
    all.begin();
    await all.queue.put(1, never);
    await settled(() => all.seen.includes(1) && all.unreadable.includes('bad'));
    expect(all.seen).toEqual([1]);
    await settled(async () => (await all.link.redis.keys(all.key('*bad*'))).length === 0);
    await settled(async () => Object.values(await all.queue.depth(never)).every((jobs) => jobs === 0));
    for (const kept of ['completed', 'failed', 'repeat']) {
      expect(await all.link.redis.exists(all.key(kept))).toBe(0);
    }
  });

  it.each(Object.entries(NONSENSE))('%s instead of it is dropped', async (_, put) => {
    const all = await consumed(1500);
    await put(all.link, all.key('bad'));
    await all.link.redis.lpush(all.key('wait'), 'bad', 'missing');
    all.begin();
    await all.queue.put(1, never);
    await settled(
      () => all.seen.includes(1) && ['bad', 'missing'].every((id) => all.unreadable.includes(id)),
      15_000,
    );
  });
});

it('a name that somebody took beforehand, and locked, is free when it was removed', async () => {
  const all = await consumed();
  for (const [, put] of Object.entries(NONSENSE)) {
    await put(all.link, all.key('n-1'));
    await all.link.redis.set(all.key('n-1:lock'), 'mine');
    expect(await all.queue.state('n-1', never)).toBe('unknown');
    await all.queue.remove('n-1', never);
    await all.queue.put(1, never);
    expect(await all.queue.state('n-1', never)).toBe('waiting');
    await all.queue.remove('n-1', never);
  }
  await all.queue.put(1, never);
  all.begin();
  await settled(() => all.seen.includes(1));
});

it('what cannot be had is not asked for again and again', async () => {
  const all = await consumed();
  all.begin();
  await all.queue.put(1, never);
  await settled(() => all.seen.includes(1));
  const before = await commands(all.link);
  let rounds = 0;
  const spoil = setInterval(() => void all.link.redis.set(all.key('prioritized'), String(rounds++)), 5);
  onTestFinished(() => clearInterval(spoil));
  await settled(() => rounds > 200);
  clearInterval(spoil);
  // Unhindered it would be some ten thousand a second.
  expect(await commands(all.link)).toBeLessThan(before + 200 * 10);
});

it('of a thousand jobs that cannot be taken each is dropped, and those between them are handled', async () => {
  const all = await consumed(1500);
  const forms = Object.values(BAD_JOBS);
  for (let at = 0; at < 1000; at++) {
    await forge(all, `bad-${at}`, forms[at % forms.length]);
    if (at % 100 === 0) await all.queue.put(at, never);
  }
  all.begin();
  await settled(() => all.seen.length === 10 && new Set(all.unreadable).size === 1000);
  await settled(async () => (await all.queue.depth(never)).active === 0);
});

it.each(['data', 'opts', 'foreign'])(
  '%s of 257 MiB is not fetched, however soon the job is taken',
  async (field) => {
    const all = await consumed();
    all.begin();
    await all.queue.put(1, never);
    await settled(() => all.seen.includes(1));
    const sent = async (): Promise<number> =>
      Number(/total_net_output_bytes:(\d+)/.exec(await all.link.redis.info('stats'))![1]);
    const before = await sent();
    const large = `redis.call('HSET', KEYS[1], ARGV[1], string.rep('x', 257 * 1024 * 1024))`;
    await forge(all, 'bad', { opts: '{}' }, () => all.link.redis.eval(large, 1, all.key('bad'), field));
    await settled(() => all.unreadable.includes('bad'));
    await all.queue.put(2, never);
    await settled(() => all.seen.includes(2));
    expect((await sent()) - before).toBeLessThan(1024 * 1024);
  },
);
