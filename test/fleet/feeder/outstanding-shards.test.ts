import { setMaxListeners } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { DEFAULT_JUDGING } from '../../helpers/run-config.ts';
import type { Priority } from '../../../src/config/run-config.ts';
import type { Shard } from '../../../src/domain/shard.ts';
import { shardQueue, sinkQueue } from '../../../src/fleet/redis/fleet-queues.ts';
import type { RedisLink } from '../../../src/queue/redis/link.ts';
import { shardJobId } from '../../../src/fleet/jobs/shard-job.ts';
import { MAX_OUTSTANDING_SHARDS, OutstandingShards } from '../../../src/fleet/feeder/outstanding-shards.ts';
import { promptItem } from '../../helpers/items.ts';
import { linkForTest, redisForTest } from '../../helpers/redis/redis.ts';
import { settled } from '../../helpers/settled.ts';

const never = new AbortController().signal;
setMaxListeners(0, never);

const shardOf = (shard: number, text = 'a comment'): Shard => {
  return { shard, pass: 1, lane: 'text', items: [promptItem(shard, text)] };
};

function outstandingIn(
  link: RedisLink,
  committed: ReadonlySet<number> = new Set(),
  redisHasRoom: () => Promise<boolean> = async () => true,
  { run = 'r', priority = 'normal' }: { readonly run?: string; readonly priority?: Priority } = {},
) {
  const queue = shardQueue(link, 'text');
  const results = sinkQueue(link, run);
  onTestFinished(async () => void (await Promise.all([queue.close(), results.close()])));
  const shards = new OutstandingShards({
    run,
    record: '',
    epoch: 1,
    key: 'f'.repeat(64),
    expectFingerprint: null,
    workerGuards: null,
    judging: DEFAULT_JUDGING,
    priority,
    contentPolicy: null,
    queueOf: () => queue,
    results,
    redisHasRoom,
    isCommitted: (shard) => committed.has(shard),
  });
  return { shards, queue, results };
}

const newLink = async (): Promise<RedisLink> => linkForTest(await redisForTest());

describe('shards that are fed and not committed', () => {
  it('are fed again as they were, in their order, when they are in no queue, and only then', async () => {
    const link = await newLink();
    const { shards, queue, results } = outstandingIn(link);
    for (let shard = 0; shard < 6; shard++) await shards.submit(shardOf(shard, 'tak „nie”\0 \ud800'), never);
    expect(await shards.resubmitLost(async () => {}, never)).toBe(0);
    const id = (shard: number) => shardJobId('r', { pass: 1, shard }, 1);
    const dataOf = (shard: number) => link.redis.hget(link.key('shards-text', id(shard)), 'data');
    const fed = await dataOf(4);
    expect(fed).toMatch(/plain/);
    // Shards 1, 3 and 4 left the shard queue: 3 has come as far as the sink's queue, the others are lost.
    for (const shard of [1, 3, 4]) await queue.remove(id(shard), never);
    const result = { shard: shardOf(3), outcomes: [null], fingerprints: [] };
    await results.put({ kind: 'result', settledMark: null, run: 'r', record: '', epoch: 1, result }, never);
    expect(await shards.resubmitLost(async () => {}, never)).toBe(2);
    expect(await queue.depth(never)).toMatchObject({ waiting: 5 });
    const waiting = await link.redis.zrange(link.key('shards-text', 'prioritized'), '0', '-1');
    expect(waiting).toEqual([0, 2, 5, 1, 4].map(id));
    expect(await dataOf(4)).toBe(fed);
  });

  it('that were committed while it was asked for them are not fed again', async () => {
    const link = await newLink();
    const committed = new Set<number>();
    const { shards, queue } = outstandingIn(link, committed);
    for (let shard = 0; shard < 3; shard++) await shards.submit(shardOf(shard), never);
    await queue.obliterate(never);
    const look = async (): Promise<void> => {
      committed.add(1);
      shards.settle();
    };
    expect(await shards.resubmitLost(look, never)).toBe(2);
    expect(shards.size).toBe(2);
    expect(shards.oldest?.shard).toBe(0);
  });

  it('are held at the bound of their number', async () => {
    const committed = new Set<number>();
    const { shards, queue } = outstandingIn(await newLink(), committed);
    for (let shard = 0; shard < MAX_OUTSTANDING_SHARDS; shard++) await shards.submit(shardOf(shard), never);
    let added = false;
    const adding = shards.submit(shardOf(MAX_OUTSTANDING_SHARDS), never).then(() => (added = true));
    // Redis answers in order: what had been sent by now would have been added.
    for (let round = 0; round < 3; round++) await queue.depth(never);
    expect(added).toBe(false);
    committed.add(7);
    shards.settle();
    await adding;
    expect(shards.size).toBe(MAX_OUTSTANDING_SHARDS);
  });

  it('that were committed while feeding was held are not fed, and nothing waits for them', async () => {
    const committed = new Set<number>();
    const { shards, queue } = outstandingIn(await newLink(), committed);
    shards.hold(true);
    const adding = shards.submit(shardOf(0), never);
    // A worker still had it in hand from an earlier feeder; its commit is counted while this one is held.
    committed.add(0);
    shards.settle();
    shards.hold(false);
    await adding;
    await shards.drained(AbortSignal.timeout(60_000));
    expect(await queue.depth(never)).toMatchObject({ waiting: 0 });
  });

  it('wait while Redis is full enough, but for a single one', async () => {
    let room = false;
    const committed = new Set<number>();
    const link = await newLink();
    const { shards } = outstandingIn(link, committed, async () => room);
    await shards.submit(shardOf(0), never);
    expect(shards.waitedForRoomAt).toBe(Number.NEGATIVE_INFINITY);
    const adding = shards.submit(shardOf(1), never);
    await settled(() => shards.waitedForRoomAt > 0);
    expect(shards.size).toBe(1);
    // While it waits, the run is paused: room alone is not enough then.
    shards.hold(true);
    room = true;
    expect(shards.size).toBe(1);
    shards.hold(false);
    await adding;
    expect(shards.size).toBe(2);
  });
});

describe('the shards of several runs', () => {
  const ofRuns = (link: RedisLink, run: string, priority: Priority) => {
    const committed = new Set<number>();
    const fed = outstandingIn(link, committed, async () => true, { run, priority });
    let next = 0;
    const feedMore = (): Promise<void> => fed.shards.submit(shardOf(next++), never);
    return { name: run, committed, feedMore, ...fed };
  };
  type Fed = ReturnType<typeof ofRuns>;

  /** The shares of three runs that are fed at once for `count` shards, each keeping `waiting` of them in the queue. */
  async function sharesOf(runs: readonly Fed[], count: number, waiting: number) {
    const shares = Object.fromEntries(runs.map(({ name }) => [name, 0]));
    for (let shard = 0; shard < waiting; shard++) for (const run of runs) await run.feedMore();
    const end = new AbortController();
    let judged = 0;
    const consuming = runs[0]!.queue.consume(
      async (job) => {
        if (judged === count) return;
        const run = runs.find(({ name }) => name === job.run)!;
        shares[job.run]! += 1 / count;
        run.committed.add(job.shard.shard);
        run.shards.settle();
        await run.feedMore();
        if (++judged === count) end.abort(new Error('enough'));
      },
      { concurrency: 2, signal: end.signal },
    );
    await expect(consuming).rejects.toThrow('enough');
    return shares;
  }

  it('are handed out in proportion to the priorities, and none starve, whoever came first', async () => {
    const link = await newLink();
    const [low, normal, high] = (['low', 'normal', 'high'] as const).map((name) => ofRuns(link, name, name));
    // Alone it takes many turns, and then none of its shards wait.
    await sharesOf([low!], 200, 10);
    await low!.queue.obliterate(never);
    const shares = await sharesOf([high!, normal!, low!], 400, 20);
    expect(shares['low']).toBeGreaterThan(0.05);
    expect(shares['normal']).toBeCloseTo(3 / 13, 1);
    expect(shares['high']).toBeCloseTo(9 / 13, 1);
  });
});
