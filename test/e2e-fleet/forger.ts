import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { packJob } from '../../src/fleet/jobs/pack-job.ts';
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
  ...{ record: 'x', expectFingerprint: null, contentPolicy: null, settledMark: null },
  judging: { frames: 1, longAudio: 'windows', videoInterval: 5, videoFrames: 64 },
  shard: { shard: n % 50, pass: 1, lane: 'text', items: [{ seq: 0 }] },
});

function pick<T>({ random }: Target, values: readonly T[]): T {
  return values[Math.floor(random() * values.length)]!;
}

/** What a job without a seal holds. */
const plain = (content: object): object => ({
  plain: packJob({ v: JOB_FORM, job: content, conversations: [], fingerprints: [] }).toString('base64'),
});

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

/** What somebody who can write to Redis, and does not have the key, may pass off as a fleet's own. */
export const KINDS: Readonly<Record<string, Kind>> = {
  'a shard in the clear': toShards(({ run }, n) => ({
    data: JSON.stringify(plain({ run, epoch: 1, ...item(n) })),
  })),
  'a shard under its own name': {
    into: 'shards',
    share: 8,
    forge: ({ shards, run }, n) =>
      shards.add('value', plain({ run, epoch: 1, ...item(n) }), { jobId: `s-${run}-1-${1000 + n}-1` }),
  },
  'a shard sealed with nothing': toShards(() => ({ data: JSON.stringify({ sealed: 'A'.repeat(400) }) })),
  'a large job': toShards(() => ({ data: JSON.stringify({ sealed: 'A'.repeat(256 * 1024) }) }), 0.3),
  'a newer version': toShards(({ run }) => ({ data: JSON.stringify({ v: 999, run, epoch: 1 }) })),
  'a job of a hostile name': {
    into: 'shards',
    share: 8,
    forge: (target, n) => job(target, pick(target, QUEUES), `${pick(target, HOSTILE)}${n}`),
  },
  'a result in the clear': {
    into: 'results',
    share: 8,
    forge: ({ results, run }, n) =>
      results.add(
        'value',
        plain({ kind: 'result', run, epoch: 1, result: { outcomes: [], fingerprints: [], ...item(n) } }),
        {
          jobId: `s-${run}-1-${n % 50}-${2 + Math.floor(n / 50)}`,
        },
      ),
  },
  'an end of the run': {
    into: 'results',
    share: 4,
    forge: ({ results, run }, n) =>
      results.add('value', plain({ kind: 'finish', run, epoch: 1, pass: 1 }), {
        jobId: `f-${run}-1-${n}`,
      }),
  },
  'a result that is none': {
    into: 'results',
    share: 8,
    forge: (target, n) => job(target, `results-${target.run}`, `forged-${n}`, { data: 'null' }),
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
