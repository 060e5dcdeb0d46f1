import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { JOB_FORM } from '../../src/fleet/redis/fleet-runs.ts';

/** What a forger aims at: a fleet's Redis, and a run of it whose name it knows. */
export interface Target {
  readonly redis: Redis;
  /** Queues of BullMQ's, opened without the fleet's key. */
  readonly shards: Queue;
  readonly results: Queue;
  readonly run: string;
  readonly dir: string;
  readonly random: () => number;
}

/** What a forgery is pushed into: a queue of shards, that of the run's results, or a key. */
export type Into = 'shards' | 'results' | 'keys';

interface Kind {
  readonly into: Into;
  /** How often it comes, against the others. */
  readonly share: number;
  readonly forge: (target: Target, n: number) => Promise<unknown>;
}

const PREFIX = '{guardsweep}';
const QUEUES = ['shards-text', 'shards-chat'];
const HOSTILE = ['../../etc/passwd', '*', '[a-z]?', 'a\nb', '\x1b[2J', 'wait:x', '__proto__', ' '];

const item = (n: number): object => ({
  ...{ v: JOB_FORM, record: 'x', expect: null, fingerprints: [] },
  judging: { frames: 1, longAudio: 'windows', longText: 'windows' },
  contentPolicy: null,
  ...{
    landmarks: {},
    settledMark: null,
    shard: n % 50,
    pass: 1,
    lane: 'text',
    conversations: [],
    names: ['x'],
    items: [[0, [0]]],
  },
});

function pick<T>({ random }: Target, values: readonly T[]): T {
  return values[Math.floor(random() * values.length)]!;
}

/** A job as BullMQ keeps it, with whatever fields. */
function job(target: Target, queue: string, id: string, fields: object = {}): Promise<unknown> {
  const key = `${PREFIX}:${queue}:`;
  const sound = { name: 'value', data: '{}', opts: '{}', timestamp: 1, delay: 0, priority: 0 };
  return target.redis
    .multi()
    .hset(key + id, { ...sound, ...fields })
    .lpush(`${key}wait`, id)
    .zadd(`${key}marker`, 0, '0')
    .exec();
}

const toShards = (fields: (target: Target, n: number) => object, share = 8): Kind => ({
  into: 'shards',
  share,
  forge: (target, n) => job(target, pick(target, QUEUES), `forged-${n}`, fields(target, n)),
});

const onKey = (share: number, forge: Kind['forge']): Kind => ({ into: 'keys', share, forge });

/** Ways in which somebody who can write to Redis, and has not the key, may disturb a fleet. */
export const KINDS: Readonly<Record<string, Kind>> = {
  'a shard in the clear': toShards(({ run }, n) => ({ data: JSON.stringify({ run, epoch: 1, ...item(n) }) })),
  'a shard under its own name': {
    into: 'shards',
    share: 8,
    forge: ({ shards, run }, n) =>
      shards.add('value', { run, epoch: 1, ...item(n) }, { jobId: `s-${run}-1-${1000 + n}-1` }),
  },
  'a shard sealed with nothing': toShards(() => ({ data: JSON.stringify({ sealed: 'A'.repeat(400) }) })),
  'data that is no JSON': toShards(() => ({ data: '{"sealed":' })),
  'a large job': toShards(() => ({ data: JSON.stringify({ sealed: 'A'.repeat(256 * 1024) }) }), 0.3),
  'a newer version': toShards(({ run }) => ({ data: JSON.stringify({ v: 999, run, epoch: 1 }) })),
  'options that are no JSON': toShards(() => ({ opts: '{"attempts":' })),
  'counts that are no numbers': toShards(() => ({ ats: 'many', stc: '{}' })),
  'a job that repeats itself': toShards(() => ({ rjk: 'every:1', opts: '{"repeat":{"every":1}}' })),
  'a job that is kept, of a parent': toShards(() => ({
    opts: '{"removeOnComplete":false,"attempts":99}',
    parentKey: `${PREFIX}:shards-image:1`,
  })),
  'a job of a hostile name': {
    into: 'shards',
    share: 8,
    forge: (target, n) => job(target, pick(target, QUEUES), `${pick(target, HOSTILE)}${n}`),
  },
  'a name without a job': {
    into: 'shards',
    share: 8,
    forge: ({ redis }, n) => redis.lpush(`${PREFIX}:shards-text:wait`, `ghost-${n}`),
  },
  'a string instead of a job': {
    into: 'shards',
    share: 4,
    forge: ({ redis }, n) =>
      redis
        .multi()
        .set(`${PREFIX}:shards-text:text-${n}`, 'x')
        .lpush(`${PREFIX}:shards-text:wait`, `text-${n}`)
        .exec(),
  },
  'a result in the clear': {
    into: 'results',
    share: 8,
    forge: ({ results, run }, n) =>
      results.add(
        'value',
        { kind: 'result', run, epoch: 1, outcomes: [], fingerprints: [], ...item(n) },
        { jobId: `s-${run}-1-${n % 50}-${2 + Math.floor(n / 50)}` },
      ),
  },
  'an end of the run': {
    into: 'results',
    share: 4,
    forge: ({ results, run }, n) =>
      results.add(
        'value',
        { kind: 'finish', v: JOB_FORM, run, epoch: 1, pass: 1 },
        { jobId: `f-${run}-1-${n}` },
      ),
  },
  'a result that is none': {
    into: 'results',
    share: 8,
    forge: (target, n) => job(target, `results-${target.run}`, `forged-${n}`, { data: 'null', opts: 'x' }),
  },
  'a worker': onKey(4, (target, n) =>
    target.redis
      .multi()
      .set(`${PREFIX}:alive:worker:forged-${n}`, pick(target, ['{', '[]', '{"lastsMs":-1}', '\x1b[2J']))
      .sadd(`${PREFIX}:workers`, `forged-${n}`, pick(target, HOSTILE))
      .exec(),
  ),
  'a run': onKey(2, (target, n) => {
    const run = `20261121T020000Z-forged-${(n % 65_536).toString(16).padStart(4, '0')}`;
    const text = JSON.stringify({ run, dir: pick(target, ['/', target.dir, '../..']), epoch: 1, form: 6 });
    return target.redis
      .multi()
      .set(`${PREFIX}:run:${run}`, pick(target, [text, '{', 'null']))
      .sadd(`${PREFIX}:runs`, run, pick(target, HOSTILE))
      .exec();
  }),
  'what is said of the run': onKey(0.2, (target) => {
    const { redis, run, dir } = target;
    const forged = { run, dir, epoch: pick(target, [1, 2, 999]), form: 6, key: pick(target, [null, 'x']) };
    return redis.set(`${PREFIX}:run:${run}`, pick(target, [JSON.stringify(forged), '{']));
  }),
  'a problem of the run': onKey(1, ({ redis, run }, n) => {
    const problem = { kind: 'service', message: '\x1b[2Jgive up', epoch: 1 + (n % 3) };
    return redis.set(`${PREFIX}:problem:${run}`, JSON.stringify(problem));
  }),
  'the lease of the sink': onKey(0.05, ({ redis, run }) =>
    redis.multi().del(`${PREFIX}:lease:sink-${run}`).rpush(`${PREFIX}:lease:sink-${run}`, 'x').exec(),
  ),
  'notes of deaths': onKey(1, (target, n) =>
    target.redis
      .multi()
      .del(`${PREFIX}:deaths:${target.run}:1-${n % 50}`)
      .rpush(`${PREFIX}:deaths:${target.run}:1-${n % 50}`, 'x')
      .exec(),
  ),
  'settings of a queue': onKey(0.5, (target) =>
    target.redis.hset(
      `${PREFIX}:${pick(target, QUEUES)}:meta`,
      pick<object>(target, [{ paused: '1' }, { concurrency: 'x' }, { max: '0', duration: '99999999' }]),
    ),
  ),
  'the name of a job to come': onKey(2, ({ redis, run }, n) => {
    const id = `s-${run}-1-${n % 50}-1`;
    const [shard, result] = [`${PREFIX}:shards-text:${id}`, `${PREFIX}:results-${run}:${id}`];
    return redis.multi().set(`${shard}:lock`, 'x').hsetnx(result, 'data', '{}').exec();
  }),
  'the lock of a shard in hand': onKey(1, async ({ redis, run }) => {
    const active = await redis.lrange(`${PREFIX}:shards-text:active`, 0, -1);
    for (const id of active.filter((id) => id.includes(run))) {
      const result = `${PREFIX}:results-${run}:${id}`;
      await redis.multi().set(`${PREFIX}:shards-text:${id}:lock`, 'x').hsetnx(result, 'data', '{}').exec();
    }
  }),
  'a shard that is said to be kept': onKey(1, (target, n) => {
    const id = `s-${target.run}-1-${n % 50}-1`;
    const queue = pick(target, ['shards-text', `results-${target.run}`]);
    const list = pick(target, ['completed', 'failed', 'waiting-children', 'paused']);
    const key = `${PREFIX}:${queue}:${list}`;
    return list === 'paused' ? target.redis.lpush(key, id) : target.redis.zadd(key, 1, id);
  }),
  'a rest of years': onKey(1, (target, n) =>
    target.redis.zadd(`${PREFIX}:results-${target.run}:delayed`, pick(target, [-1, 1e300]), `resting-${n}`),
  ),
  // Once at the beginning that of all that waits, which also takes what was forged before.
  'a list of a queue': onKey(0.05, (target, n) => {
    const list = n < 100 ? 'wait' : pick(target, ['active', 'delayed', 'stalled']);
    return target.redis.set(`${PREFIX}:shards-text:${list}`, 'x');
  }),
};

/** Pushes so many forgeries, of all kinds in turn and then by chance; gives how many went where. */
export async function forge(target: Target, many: number): Promise<Record<Into, number>> {
  const pushed = { shards: 0, results: 0, keys: 0 };
  const kinds = Object.values(KINDS);
  const total = kinds.reduce((sum, { share }) => sum + share, 0);
  const byChance = (): Kind => {
    let at = target.random() * total;
    return kinds.find(({ share }) => (at -= share) < 0) ?? kinds[0]!;
  };
  const AT_A_TIME = 50;
  for (let n = 0; n < many; n += AT_A_TIME) {
    const batch = Array.from({ length: Math.min(AT_A_TIME, many - n) }, async (_, index) => {
      const kind = kinds[n + index] ?? byChance();
      // What an earlier forgery made of a key may refuse a later one.
      const done = await kind.forge(target, n + index).then(
        () => true,
        () => false,
      );
      if (done) pushed[kind.into]++;
    });
    await Promise.all(batch);
  }
  return pushed;
}
