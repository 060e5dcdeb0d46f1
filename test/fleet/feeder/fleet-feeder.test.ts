import { setMaxListeners } from 'node:events';
import { rm } from 'node:fs/promises';
import { expect, it, onTestFinished } from 'vitest';
import { Lease } from '../../../src/fleet/redis/lease.ts';
import { sinkQueue } from '../../../src/fleet/redis/fleet-queues.ts';
import type { RedisLink } from '../../../src/queue/redis/link.ts';
import { sinkLease } from '../../../src/fleet/status/stall-reason.ts';
import { gate } from '../../helpers/guards/gate.ts';
import { linkForTest, redisForTest } from '../../helpers/redis/redis.ts';
import { settled } from '../../helpers/settled.ts';
import { slowPathTo } from '../../helpers/slow-path.ts';
import { newRun, signal } from '../../record/run-fixture.ts';
import { feederAtWork } from './feeder-at-work.ts';

setMaxListeners(0, signal);

const feederOn = async (link: RedisLink, { maxWaitMs = 60_000 } = {}) =>
  feederAtWork(link, await newRun({ maxWaitMs }));

it('a run whose directory was deleted ends, says so, and leaves nothing in Redis', async () => {
  const link = await linkForTest(await redisForTest());
  const { run, watching } = await feederOn(link);
  await settled(async () => (await link.redis.smembers(link.key('runs'))).length === 1);
  await rm(run.dir, { recursive: true });
  await expect(watching).rejects.toMatchObject({
    kind: 'service',
    message: `the run directory ${run.dir} is gone: it was deleted or moved`,
  });
  expect(await link.redis.keys(`*${run.record.run}*`)).toEqual([]);
});

it('a run that a sink is finishing does not end with its maximum wait, however long that takes', async () => {
  const link = await linkForTest(await redisForTest());
  const { run, feeder, watching, end } = await feederOn(link, { maxWaitMs: 5000 });
  const lease = new Lease(link, sinkLease(run.record.run), 'a-sink', 60_000);
  expect(await lease.take(end)).toBe(true);
  const queue = sinkQueue(link, run.record.run);
  onTestFinished(() => queue.close());
  const finished = gate();
  const consuming = queue.consume(() => finished.opened, { concurrency: 1, signal: end });
  consuming.catch(() => {});
  let ended = false;
  watching.catch(() => (ended = true));
  const finishing = feeder.finish({ pass: 1, shards: 0 }, async () => null, end);
  finishing.catch(() => {});
  const began = performance.now();
  await settled(() => performance.now() - began > 6000);
  expect(ended).toBe(false);
  expect(feeder.note).toBeNull();
  finished.open();
});

it('does not say that it waits for Redis while that answers, however far it is', async () => {
  const redis = await redisForTest({ tcp: true });
  const port = await slowPathTo(redis.port, 40);
  const link = await linkForTest({ address: { ...redis.address, at: { host: '127.0.0.1', port } } });
  const { feeder } = await feederOn(link);
  const notes = new Set<string | null>();
  const began = performance.now();
  await settled(() => {
    notes.add(feeder.note);
    return performance.now() - began > 1500;
  });
  expect([...notes]).not.toContain('waiting for Redis');
  await redis.kill();
  await settled(() => feeder.note === 'waiting for Redis');
  await redis.boot();
  await settled(() => feeder.note !== 'waiting for Redis');
});

it('a run that is over does not wait for a Redis that hangs', async () => {
  const redis = await redisForTest();
  const { feeder, end } = await feederOn(await linkForTest(redis));
  process.kill(redis.pid, 'SIGSTOP');
  onTestFinished(() => void process.kill(redis.pid, 'SIGCONT'));
  await feeder.deregister(end);
});
