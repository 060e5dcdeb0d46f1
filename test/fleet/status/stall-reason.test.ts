import { expect, it, onTestFinished } from 'vitest';
import { Lease } from '../../../src/fleet/redis/lease.ts';
import type { RedisLink } from '../../../src/queue/redis/link.ts';
import { Presence } from '../../../src/fleet/redis/presence.ts';
import { sinkLease } from '../../../src/fleet/status/stall-reason.ts';
import { RunWatch } from '../../../src/fleet/status/run-status.ts';
import { linkForTest, redisForTest } from '../../helpers/redis/redis.ts';
import { begunRun, feeding, signal } from '../../record/run-fixture.ts';
import { planLine, resultOf, shardOf } from '../../record/shards.ts';

/** Announces a worker as one does itself; gives the function that ends it. */
async function announce(link: RedisLink, id: string, lanes: string[], states: string[]) {
  const describe = () => ({ lanes, guards: states.map((state) => ({ name: 'grpc://gpu:8001', state })) });
  const presence = new Presence(link, 'worker', id, { describe, expiryMs: 60_000 });
  onTestFinished(() => presence.stop());
  await presence.start();
  return (): Promise<void> => presence.stop();
}

it('a run that is fed says what it lacks, one thing after the other, and which shard is the oldest', async () => {
  const link = await linkForTest(await redisForTest());
  const { run, log, plan } = await begunRun();
  onTestFinished(async () => void (await Promise.all([log.close(), plan.close()])));
  await plan.append([planLine(shardOf(0, [0])), planLine(shardOf(1, [0], { lane: 'chat' }))]);
  const watch = await RunWatch.open(run.dir, signal);
  const stuck = async () => (await watch.look(link, signal)).stuck;

  expect(await stuck()).toBe('no feeder: resume the run');
  await feeding(run.dir);
  expect(await stuck()).toBe('waiting for a worker (guardsweep worker)');
  await announce(link, 'texts', ['text'], ['ready']);
  expect(await stuck()).toBe('waiting for a sink (guardsweep sink)');
  const lease = new Lease(link, sinkLease(run.record.run), 'a-sink', 60_000);
  expect(await lease.take(signal)).toBe(true);
  expect(await watch.look(link, signal)).toMatchObject({ stuck: null, oldest_open_shard: 0 });
  const active = link.key('shards-text', 'active');
  await link.redis.lpush(active, 's-20261121T020000Z-other-ab12-1-0-1');
  expect(await stuck()).toBe('waiting for its turn: the workers judge 1 shards of other runs');
  await link.redis.lpush(active, `s-${run.record.run}-1-0-1`);
  expect(await stuck()).toBeNull();
  await link.redis.del(active);

  await log.commit(resultOf(shardOf(0, [0])));
  expect(await watch.look(link, signal)).toMatchObject({
    stuck: 'waiting for a worker that takes the lane chat (guardsweep worker --lanes)',
    oldest_open_shard: 1,
  });
  const endSingle = await announce(link, 'chats', ['text', 'chat'], ['away', 'not ready']);
  expect(await stuck()).toBe('waiting for a guard: none of the workers has one that is ready');
  await announce(link, 'more', ['chat'], ['away', 'ready']);
  expect(await stuck()).toBeNull();
  await endSingle();
  expect(await stuck()).toBeNull();
});
