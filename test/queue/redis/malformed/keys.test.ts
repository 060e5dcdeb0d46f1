import { setMaxListeners } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DeathNotes, notedShard } from '../../../../src/fleet/redis/death-notes.ts';
import { readDepths } from '../../../../src/fleet/redis/depths.ts';
import { FleetRuns } from '../../../../src/fleet/redis/fleet-runs.ts';
import { LackingWorkers } from '../../../../src/fleet/redis/lacking-workers.ts';
import { Lease } from '../../../../src/fleet/redis/lease.ts';
import { isPresent, listPresent, Presence } from '../../../../src/fleet/redis/presence.ts';
import { RedisQueue } from '../../../../src/queue/redis/redis-queue.ts';
import { findRunDirectory } from '../../../../src/fleet/sink/find-run-directory.ts';
import { sinkLease, stallReason } from '../../../../src/fleet/status/stall-reason.ts';
import { temporaryFolder } from '../../../helpers/cli.ts';
import { linkForTest, redisForTest } from '../../../helpers/redis/redis.ts';
import { settled } from '../../../helpers/settled.ts';
import { NONSENSE } from './nonsense.ts';

const never = new AbortController().signal;
setMaxListeners(0, never);
const RUN = '20261121T020000Z-test-ab12';

describe.each(Object.entries(NONSENSE))('where a key holds %s', (_, put) => {
  it('processes are listed, and announce themselves', async () => {
    const said: string[] = [];
    const link = await linkForTest(await redisForTest(), said);
    await put(link, link.key('workers'));
    const presence = new Presence(link, 'worker', 'w1', {
      describe: () => ({ lanes: ['text'] }),
      expiryMs: 60_000,
    });
    onTestFinished(() => presence.stop());
    await presence.start();
    await link.redis.sadd(link.key('workers'), 'w2');
    await put(link, link.key('alive', 'worker', 'w2'));
    const present = await listPresent(link, 'worker', never);
    // Of the second nobody can tell; it may be of another version.
    expect(present.map(({ id }) => id)).toEqual(['w1', 'w2']);
    expect(await isPresent(link, 'worker', 'w2', never)).toBe(true);
    expect(await link.redis.pttl(link.key('alive', 'worker', 'w2'))).toBeGreaterThan(0);
    const lacking = new LackingWorkers(link, 'w1');
    await put(link, link.key('lacking', 'shard'));
    expect(await lacking.note('shard', 'text', never)).toBe(false);
    expect(said.length).toBeLessThan(8);
    expect(said.join('')).not.toMatch(/[\n\x1b\0]/);
  });

  it('a lease is free when its time is over', async () => {
    const link = await linkForTest(await redisForTest());
    await put(link, link.key('lease', 'run'));
    const lease = new Lease(link, 'run', 'me', 500);
    await settled(() => lease.take(never));
    await put(link, link.key('lease', 'run'));
    await lease.release();
  });

  it('notes of deaths begin anew', async () => {
    const link = await linkForTest(await redisForTest());
    const name = notedShard(RUN, { pass: 1, shard: 0 });
    await put(link, link.key('deaths', name));
    const notes = new DeathNotes(link, 'me');
    expect(await notes.begin(name, never)).toEqual({ ofShard: 0, ofItem: new Map() });
    await put(link, link.key('deaths', name));
    await notes.beginItems(name, [1, 2], never);
    await notes.blame(name, [1], never);
    await put(link, link.key('deaths', name));
    await notes.endItems(name, [1, 2], never);
    await notes.release(name, never);
    await notes.forget(name, never);
  });

  it('runs are listed and found, and problems taken', async () => {
    const link = await linkForTest(await redisForTest());
    const runs = new FleetRuns(link);
    await put(link, link.key('runs'));
    await runs.register({ run: RUN, dir: '/runs/x', epoch: 1 }, never);
    expect(await runs.list(never)).toMatchObject([{ run: RUN, dir: '/runs/x', epoch: 1 }]);
    await put(link, link.key('run', RUN));
    // It is not taken for one that nobody feeds: what it has in Redis stays.
    expect(await runs.listAll([], never)).toEqual({ fed: [], forgotten: [] });
    expect(await runs.isRegistered(RUN, never)).toBe(true);
    expect(await link.redis.pttl(link.key('run', RUN))).toBeGreaterThan(0);
    await put(link, link.key('problem', RUN));
    expect(await runs.takeProblem(RUN, 1, never)).toBeNull();
    expect(await link.redis.exists(link.key('problem', RUN))).toBe(0);
    await put(link, link.key('obstacle', RUN));
    const obstacle = await runs.obstacle(RUN, never);
    expect(obstacle ?? '').not.toMatch(/[\n\x1b\0\u202e]/);
    expect((obstacle ?? '').length).toBeLessThanOrEqual(1001);
  });

  it('it is told what a run lacks, and how much waits', async () => {
    const link = await linkForTest(await redisForTest());
    await link.redis.sadd(link.key('workers'), 'w');
    await link.redis.sadd(link.key('sinks'), 's');
    for (const key of [link.key('alive', 'worker', 'w'), link.key('alive', 'sink', 's')])
      await put(link, key);
    await put(link, link.key('lease', sinkLease(RUN)));
    await put(link, link.key('obstacle', RUN));
    await link.redis.rpush(link.key('shards-chat', 'wait'), 'a');
    await put(link, link.key('shards-text', 'wait'));
    await put(link, link.key('shards-text', 'delayed'));
    for (const waitsFor of ['text', 'end', null] as const)
      await stallReason(link, { run: RUN, waitsFor }, never);
    const depths = await readDepths(link, never);
    expect(depths.find(({ queue }) => queue === 'chat')).toMatchObject({ waiting: 1 });
  });
});

it('a key without an end gets the one that such a key has', async () => {
  const link = await linkForTest(await redisForTest());
  await link.redis.set(link.key('lease', 'run'), 'gone');
  const lease = new Lease(link, 'run', 'me', 500);
  expect(await lease.take(never)).toBe(false);
  await settled(() => lease.take(never));
});

it('a hundred thousand names that are none are removed, and said in one line', async () => {
  const said: string[] = [];
  const link = await linkForTest(await redisForTest(), said);
  for (let at = 0; at < 100; at++) {
    await link.redis.sadd(link.key('runs'), ...Array.from({ length: 1000 }, (_, n) => `../run-${at}-${n}`));
  }
  const runs = new FleetRuns(link);
  await runs.register({ run: RUN, dir: '/runs/x', epoch: 1 }, never);
  expect((await runs.list(never)).map(({ run }) => run)).toEqual([RUN]);
  expect(await link.redis.scard(link.key('runs'))).toBe(1);
  expect(said).toEqual(['Redis key {guardsweep}:runs: contained malformed names; removed']);
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
  const make = (name: string): RedisQueue<number> => {
    const codec = { id: (n: number) => `n-${n}`, encode: (n: number) => ({ n }), decode: () => 0 };
    const queue = new RedisQueue(link, {
      name,
      codec,
      bound: 10,
      lockMs: 30_000,
      unreadable: async () => {},
    });
    onTestFinished(() => queue.close());
    return queue;
  };
  const [hostile, other] = [make('result[s]?*'), make('results-x')];
  await other.put(1, never);
  await hostile.put(1, never);
  await hostile.obliterate(never);
  expect(await hostile.has('n-1', never)).toBe(false);
  expect(await other.has('n-1', never)).toBe(true);
});

it.each(['../run', '..', '.', '', 'run', '*', 'a/b', `${RUN}/../x`, `${RUN}\n`, RUN.toUpperCase()])(
  'no run is called %j',
  async (run) => {
    const link = await linkForTest(await redisForTest());
    const runs = new FleetRuns(link);
    await link.redis.set(link.key('run', run), JSON.stringify({ run, dir: '/runs', epoch: 1 }));
    await link.redis.sadd(link.key('runs'), run);
    expect(await runs.listAll([], never)).toEqual({ fed: [], forgotten: [] });
    expect(await runs.isRegistered(run, never)).toBe(false);
    const folder = await temporaryFolder();
    const root = join(folder, 'root');
    await mkdir(join(root, 'run'), { recursive: true });
    for (const dir of [folder, join(root, 'run')]) {
      const config = { sources: [{ path: '/' }] };
      const tool = { name: 'guardsweep' };
      const record = { schema: 1, run, tool, created_at: '', sources_sha256: '', config };
      await writeFile(join(dir, 'run.json'), JSON.stringify(record));
    }
    expect(await findRunDirectory({ run, dir: join(root, 'run'), epoch: 1 }, [root])).toBeNull();
  },
);
