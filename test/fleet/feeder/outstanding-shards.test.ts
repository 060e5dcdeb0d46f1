import { setMaxListeners } from 'node:events';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { DEFAULT_JUDGING } from '../../helpers/judging.ts';
import type { Priority } from '../../../src/config/run-config.ts';
import type { Shard } from '../../../src/domain/shard.ts';
import { Requeue, MAX_REQUEUE_DELAY_MS, type WorkQueue } from '../../../src/queue/work-queue.ts';
import { shardQueue, sinkQueue } from '../../../src/fleet/redis/fleet-queues.ts';
import type { RedisLink } from '../../../src/queue/redis/link.ts';
import { shardJobId } from '../../../src/fleet/jobs/shard-job.ts';
import { MAX_OUTSTANDING_SHARDS, OutstandingShards } from '../../../src/fleet/feeder/outstanding-shards.ts';
import { promptItem } from '../../helpers/items.ts';
import { linkForTest, redisForTest } from '../../helpers/redis/redis.ts';
import { settled } from '../../helpers/settled.ts';
import { slowPathTo } from '../../helpers/slow-path.ts';

const never = new AbortController().signal;
setMaxListeners(0, never);

const shardOf = (shard: number, text = 'a comment'): Shard => ({
  shard,
  pass: 1,
  lane: 'text',
  items: [promptItem(shard, text)],
});

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
    judging: DEFAULT_JUDGING,
    priority,
    contentPolicy: null,
    landmarks: {},
    queueOf: () => queue,
    results,
    isCommitted: (shard) => committed.has(shard),
    redisHasRoom,
  });
  return { shards, queue, results };
}

/** Takes from a queue until one value was given back, for so long as a worker would; the others wait. */
async function giveBackOnce<T>(queue: WorkQueue<T>, restMs: number): Promise<void> {
  const end = new AbortController();
  const consuming = queue.consume(
    async () => {
      end.abort(new Error('enough'));
      throw new Requeue(restMs);
    },
    { concurrency: 1, signal: end.signal },
  );
  await expect(consuming).rejects.toThrow('enough');
}

describe('shards that are fed and not committed', () => {
  it('are fed again as they were, in their order, when they are in no queue, and only then', async () => {
    const link = await linkForTest(await redisForTest());
    const { shards, queue, results } = outstandingIn(link);
    for (let shard = 0; shard < 6; shard++) await shards.submit(shardOf(shard, 'tak „nie”\0 \ud800'), never);
    expect(await shards.resubmitLost(async () => {}, never)).toBe(0);
    const id = (shard: number) => shardJobId('r', { pass: 1, shard }, 1);
    const dataOf = (shard: number) => link.redis.hget(link.key('shards-text', id(shard)), 'data');
    const fed = await dataOf(4);
    expect(fed).toContain('nie');
    // Shards 1, 3 and 4 left the shard queue: 3 has come as far as the sink's queue, the others are lost.
    for (const shard of [1, 3, 4]) await queue.remove(id(shard), never);
    await results.put(
      {
        kind: 'result',
        settledMark: null,
        run: 'r',
        record: '',
        epoch: 1,
        result: { shard: shardOf(3), outcomes: [null], fingerprints: [] },
      },
      never,
    );
    expect(await shards.resubmitLost(async () => {}, never)).toBe(2);
    expect(await queue.depth(never)).toMatchObject({ waiting: 5 });
    const waiting = await link.redis.zrange(link.key('shards-text', 'prioritized'), '0', '-1');
    expect(waiting).toEqual([0, 2, 5, 1, 4].map(id));
    expect(await dataOf(4)).toBe(fed);
  });

  it('that were committed while it was asked for them are not fed again', async () => {
    const link = await linkForTest(await redisForTest());
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

  it('are not fed twice while they are on their way into the queue', async () => {
    const { shards, queue } = outstandingIn(await linkForTest(await redisForTest()));
    const put = queue.putEncoded.bind(queue);
    const puts: string[] = [];
    let arrive = (): void => {};
    const arrived = new Promise<void>((resolve) => (arrive = resolve));
    queue.putEncoded = async (job, signal, turn) => {
      puts.push(job.id);
      await arrived;
      return put(job, signal, turn);
    };
    const submitting = shards.submit(shardOf(0), never);
    await vi.waitUntil(() => puts.length === 1);
    expect(await shards.resubmitLost(async () => {}, never)).toBe(0);
    arrive();
    await submitting;
    expect(puts).toHaveLength(1);
    await queue.obliterate(never);
    expect(await shards.resubmitLost(async () => {}, never)).toBe(1);
  });

  it('are asked for all at once: a long way to Redis is not gone for each', async () => {
    const redis = await redisForTest({ tcp: true });
    const direct = outstandingIn(await linkForTest(redis));
    const delayMs = 50;
    const port = await slowPathTo(redis.port, delayMs);
    const slow = outstandingIn(
      await linkForTest({ address: { ...redis.address, at: { host: '127.0.0.1', port } } }),
    );
    // Added through the slow path one after the other they would take as long as what this test is about.
    await Promise.all(
      Array.from({ length: MAX_OUTSTANDING_SHARDS }, (_, shard) => slow.shards.submit(shardOf(shard), never)),
    );
    const began = performance.now();
    expect(await slow.shards.resubmitLost(async () => {}, never)).toBe(0);
    await direct.queue.obliterate(never);
    expect(await slow.shards.resubmitLost(async () => {}, never)).toBe(MAX_OUTSTANDING_SHARDS);
    const oneByOneMs = MAX_OUTSTANDING_SHARDS * delayMs;
    expect(performance.now() - began).toBeLessThan(oneByOneMs / 2);
  });

  it('are held at the bound of their number', async () => {
    const committed = new Set<number>();
    const { shards, queue } = outstandingIn(await linkForTest(await redisForTest()), committed);
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
    const { shards, queue } = outstandingIn(await linkForTest(await redisForTest()), committed);
    shards.hold(true);
    const adding = shards.submit(shardOf(0), never);
    // A worker still had it in hand from an earlier feeder; its commit is counted while this one is held.
    committed.add(0);
    shards.settle();
    shards.hold(false);
    await adding;
    await shards.drained(AbortSignal.timeout(5000));
    expect(await queue.depth(never)).toMatchObject({ waiting: 0 });
  });

  it('that were committed while feeding waited for room in Redis are not fed', async () => {
    let room = false;
    const committed = new Set<number>();
    const { shards } = outstandingIn(await linkForTest(await redisForTest()), committed, async () => room);
    await shards.submit(shardOf(0), never);
    const adding = shards.submit(shardOf(1), never);
    await settled(() => shards.waitedForRoomAt > 0);
    committed.add(1);
    shards.settle();
    room = true;
    await adding;
    expect(shards.oldest?.shard).toBe(0);
    expect(shards.size).toBe(1);
  });

  it('of which the log says in passing that they are committed are not fed again', async () => {
    const committed = new Set<number>();
    const { shards, queue } = outstandingIn(await linkForTest(await redisForTest()), committed);
    await shards.submit(shardOf(0), never);
    await queue.obliterate(never);
    committed.add(0);
    expect(await shards.resubmitLost(async () => {}, never)).toBe(0);
    await shards.drained(AbortSignal.timeout(5000));
  });

  it('that rest because a clock was set back are handed on all the same, in either queue', async () => {
    const link = await linkForTest(await redisForTest());
    const { shards, queue, results } = outstandingIn(link);
    for (let shard = 0; shard < 3; shard++) await shards.submit(shardOf(shard), never);
    const id = (shard: number) => shardJobId('r', { pass: 1, shard }, 1);
    await queue.remove(id(1), never);
    await results.put(
      {
        kind: 'result',
        settledMark: null,
        run: 'r',
        record: '',
        epoch: 1,
        result: { shard: shardOf(1), outcomes: [null], fingerprints: [] },
      },
      never,
    );
    // As by a process whose clock was half an hour ahead of what it is now.
    const soon = Date.now() + 1_800_000;
    vi.useFakeTimers({ toFake: ['Date', 'performance'], now: soon });
    onTestFinished(() => void vi.useRealTimers());
    await giveBackOnce(queue, MAX_REQUEUE_DELAY_MS);
    await giveBackOnce(results, MAX_REQUEUE_DELAY_MS);
    vi.setSystemTime(soon - 1_800_000);
    expect(await queue.depth(never)).toEqual({ waiting: 1, active: 0, delayed: 1 });
    expect(await results.depth(never)).toEqual({ waiting: 0, active: 0, delayed: 1 });

    expect(await shards.resubmitLost(async () => {}, never)).toBe(0);
    vi.advanceTimersByTime(MAX_REQUEUE_DELAY_MS);
    expect(await shards.resubmitLost(async () => {}, never)).toBe(0);
    expect(await queue.depth(never)).toMatchObject({ delayed: 1 });
    vi.advanceTimersByTime(MAX_REQUEUE_DELAY_MS);
    expect(await shards.resubmitLost(async () => {}, never)).toBe(0);
    expect(await queue.depth(never)).toEqual({ waiting: 2, active: 0, delayed: 0 });
    expect(await results.depth(never)).toEqual({ waiting: 1, active: 0, delayed: 0 });
  });

  it('wait while Redis is full enough, but for a single one', async () => {
    let room = false;
    const committed = new Set<number>();
    const link = await linkForTest(await redisForTest());
    const { shards } = outstandingIn(link, committed, async () => room);
    await shards.submit(shardOf(0), never);
    expect(shards.waitedForRoomAt).toBe(Number.NEGATIVE_INFINITY);
    const adding = shards.submit(shardOf(1), never);
    await settled(() => shards.waitedForRoomAt > 0);
    expect(shards.size).toBe(1);
    // While it waits, the run is paused: room alone is not enough then.
    shards.hold(true);
    room = true;
    // Others that wait for room look as often.
    let looks = 0;
    const other = outstandingIn(link, committed, async () => ++looks === 3).shards;
    for (const shard of [2, 3]) await other.submit(shardOf(shard), never);
    expect(shards.size).toBe(1);
    shards.hold(false);
    await adding;
    expect(shards.size).toBe(2);
  });
});

describe('the shards of several runs', () => {
  /** The runs of the next `count` shards that a worker gets. */
  async function taken(queue: WorkQueue<{ readonly run: string }>, count: number): Promise<string[]> {
    const end = new AbortController();
    const runs: string[] = [];
    const consuming = queue.consume(
      async ({ run }) => {
        if (runs.push(run) === count) end.abort(new Error('enough'));
      },
      { concurrency: 1, signal: end.signal },
    );
    await expect(consuming).rejects.toThrow('enough');
    return runs;
  }

  const ofRuns = (link: RedisLink, run: string, priority: Priority) =>
    outstandingIn(link, new Set(), async () => true, { run, priority });

  it('are handed out by turns, in proportion to the priorities, whoever came first', async () => {
    const link = await linkForTest(await redisForTest());
    const runs = (['low', 'normal', 'high'] as const).map((name) => ofRuns(link, name, name));
    for (const { shards } of runs) {
      for (let shard = 0; shard < 40; shard++) await shards.submit(shardOf(shard), never);
    }
    const counts = { low: 0, normal: 0, high: 0 };
    for (const run of await taken(runs[0]!.queue, 42)) counts[run as Priority]++;
    expect(counts).toEqual({ low: 2, normal: 8, high: 32 });
  });

  it('of a run that comes later begins with the next turn, and those of no run wait for ever', async () => {
    const link = await linkForTest(await redisForTest());
    const big = ofRuns(link, 'big', 'low');
    for (let shard = 0; shard < 100; shard++) await big.shards.submit(shardOf(shard), never);
    await taken(big.queue, 10);
    // One after the other, each of high priority and each new: they get no more than every second turn.
    const order: string[] = [];
    for (let later = 0; later < 5; later++) {
      const { shards } = ofRuns(link, `later-${later}`, 'high');
      await shards.submit(shardOf(0), never);
      order.push(...(await taken(big.queue, 2)));
    }
    expect(order.filter((run) => run === 'big')).toHaveLength(5);
    expect(order.indexOf('later-0')).toBeLessThan(2);
  });

  it('get new turns when the turns have become too large', async () => {
    const link = await linkForTest(await redisForTest());
    const [first, second] = [ofRuns(link, 'first', 'normal'), ofRuns(link, 'second', 'normal')];
    const other = ofRuns(link, 'other', 'normal');
    const id = (run: string, shard: number) => shardJobId(run, { pass: 1, shard }, 1);
    await other.shards.submit(shardOf(0), never);
    await other.queue.changeTurn(id('other', 0), 2 ** 20, never);
    for (let shard = 0; shard < 3; shard++) await first.shards.submit(shardOf(shard), never);
    await first.queue.remove(id('other', 0), never);
    await first.queue.remove(id('first', 0), never);
    await second.shards.submit(shardOf(0), never);
    expect(await second.queue.dueTurn(never)).toBe(1);
    await first.shards.resubmitLost(async () => {}, never);
    expect(await taken(second.queue, 2)).toEqual(['second', 'first']);
    const scores = await link.redis.zrange(link.key('shards-text', 'prioritized'), '0', '-1', 'WITHSCORES');
    for (let at = 1; at < scores.length; at += 2) expect(Number(scores[at]) / 2 ** 32).toBeLessThan(100);
  });
});
