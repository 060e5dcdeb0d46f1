import { setMaxListeners } from 'node:events';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { EndpointStatus } from '../../../src/guard/endpoint/endpoint-status.ts';
import type { ShardJob } from '../../../src/fleet/jobs/shard-job.ts';
import { shardQueue, sinkQueue } from '../../../src/fleet/redis/fleet-queues.ts';
import { Presence } from '../../../src/fleet/redis/presence.ts';
import { announcedGuards, WorkerModels } from '../../../src/fleet/redis/worker-models.ts';
import type { RedisLink } from '../../../src/queue/redis/link.ts';
import { clearMarker, setMarker } from '../../../src/runs/control/control-files.ts';
import { RunReuse } from '../../../src/runs/reuse/run-reuse.ts';
import { VerdictStore } from '../../../src/store/verdict-store.ts';
import { linkForTest, redisForTest } from '../../helpers/redis/redis.ts';
import { settled } from '../../helpers/settled.ts';
import { feederAtWork } from './feeder-at-work.ts';
import { newRun, signal } from '../../record/run-fixture.ts';
import { DECLARED, FINGERPRINT, fingerprint, resultOf, shardOf, verdict } from '../../record/shards.ts';

setMaxListeners(0, signal);

/** A feeder of a run that reuses verdicts; an earlier run judged the items 0 to 9. */
async function reusingFeeder({ maxWaitMs = 60_000, model = FINGERPRINT, trustDeclared = false } = {}) {
  const link = await linkForTest(await redisForTest());
  const { dir, record: plain } = await newRun({ maxWaitMs });
  const record = { ...plain, config: { ...plain.config, reuse: true, trustDeclared } };
  const options = { key: null, recorded: async function* () {}, say: () => undefined, signal };
  const store = await VerdictStore.open(join(dirname(dir), '.store'), options);
  const earlier = shardOf(0, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  await new RunReuse({ ...record, run: 'an-earlier-run' }, store).keep({
    ...resultOf(earlier, (item) => verdict(item, { fingerprint: model.id })),
    fingerprints: [model],
  });
  onTestFinished(() => store!.close());
  const [shards, results] = [shardQueue(link, 'text'), sinkQueue(link, record.run)];
  onTestFinished(async () => void (await Promise.all([shards.close(), results.close()])));
  const fed = await feederAtWork(link, { dir, record }, store);
  const waiting = async () => ({
    shards: (await shards.depth(signal)).waiting,
    results: (await results.depth(signal)).waiting,
  });
  return { link, ...fed, shards, results, waiting };
}

/** A worker whose guards have these models, until `have` says otherwise. */
async function worker(link: RedisLink, ...first: readonly string[]) {
  let models = first;
  const guards = [{ name: 'grpc://gpu:8001', state: { name: 'ready' }, fingerprint: null }] as const;
  const readings = new WorkerModels(link);
  const describe = (): object => ({
    lanes: ['text'],
    guards: announcedGuards(guards as unknown as EndpointStatus[]),
    ...readings.announced,
  });
  const presence = new Presence(link, 'worker', 'a-worker', { describe, expiryMs: 60_000 });
  const end = new AbortController();
  await presence.start();
  const announce = (): Promise<void> => presence.announce();
  const reading = readings.run({ read: async () => models, announce }, end.signal).catch(() => undefined);
  onTestFinished(async () => {
    end.abort();
    await reading;
    await presence.stop();
  });
  return { have: (...others: readonly string[]) => (models = others) };
}

it('a settled shard goes straight to the sink, and of others the worker gets what was not judged', async () => {
  const { link, feeder, end, shards, waiting } = await reusingFeeder();
  await worker(link, FINGERPRINT.id);
  await feeder.feed(shardOf(0, [0, 1, 2]), end);
  await expect.poll(waiting).toEqual({ shards: 0, results: 1 });
  await feeder.feed(shardOf(1, [8, 9, 10, 11]), end);
  await expect.poll(waiting).toEqual({ shards: 1, results: 1 });
  const enough = new AbortController();
  const handle = async ({ shard: { items } }: ShardJob) => {
    expect(items.map(({ settled }) => settled?.judgement?.score ?? null)).toEqual([0.07, 0.93, null, null]);
    expect(items[0]!.settled).toMatchObject({ reusedFrom: 'an-earlier-run' });
    enough.abort(new Error('seen'));
  };
  const consuming = shards.consume(handle, { concurrency: 1, signal: enough.signal });
  await expect(consuming).rejects.toThrow('seen');
});

it.each([false, true])(
  'verdicts of a model that is only declared are reused if that is trusted: %s',
  async (trustDeclared) => {
    const { link, feeder, end, waiting } = await reusingFeeder({ model: DECLARED, trustDeclared });
    await worker(link, DECLARED.id);
    await feeder.feed(shardOf(0, [0, 1, 2]), end);
    const expected = trustDeclared ? { shards: 0, results: 1 } : { shards: 1, results: 0 };
    await expect.poll(waiting).toEqual(expected);
  },
);

it('a settled shard that Redis lost goes to the sink again', async () => {
  const { link, feeder, end, results, waiting } = await reusingFeeder();
  await worker(link, FINGERPRINT.id);
  await feeder.feed(shardOf(0, [0, 1, 2]), end);
  await expect.poll(waiting).toEqual({ shards: 0, results: 1 });
  await results.obliterate(signal);
  expect(await feeder.shards.resubmitLost(async () => undefined, end)).toBe(1);
  await expect.poll(waiting).toEqual({ shards: 0, results: 1 });
  expect(await feeder.shards.resubmitLost(async () => undefined, end)).toBe(0);
  await settled(() => feeder.note === 'waiting for a sink (guardsweep sink)');
});

it('nothing is fed before a worker tells which models judge; the feeder says so, and waits no longer than it may', async () => {
  const { feeder, watching, end, waiting } = await reusingFeeder({ maxWaitMs: 1000 });
  const feeding = feeder.feed(shardOf(0, [0, 1, 2]), end);
  feeding.catch(() => undefined);
  await settled(() => feeder.note === 'waiting for a worker (guardsweep worker)');
  expect(await waiting()).toEqual({ shards: 0, results: 0 });
  await expect(watching).rejects.toMatchObject({
    kind: 'service',
    message: 'nothing was committed for 1 s: waiting for a worker (guardsweep worker)',
  });
});

it('a run that waits for a worker can be paused, and goes on when one comes', async () => {
  const { link, run, feeder, end, waiting } = await reusingFeeder({ maxWaitMs: 5000 });
  await setMarker(run.dir, 'paused');
  const feeding = feeder.feed(shardOf(0, [0, 1, 2]), end);
  const began = performance.now();
  await settled(() => feeder.note === 'paused' && performance.now() - began > 6000);
  await clearMarker(run.dir, 'paused');
  await worker(link, FINGERPRINT.id);
  await feeding;
  await expect.poll(waiting).toEqual({ shards: 0, results: 1 });
});

it('a verdict that was looked up before the model of the workers changed is not reused', async () => {
  const { link, feeder, end, waiting } = await reusingFeeder();
  const { have } = await worker(link, FINGERPRINT.id);
  await feeder.feed(shardOf(0, [0, 1, 2]), end);
  await expect.poll(waiting).toEqual({ shards: 0, results: 1 });
  have(fingerprint('b').id);
  // Settled by what was read last, and fed only when that is read again.
  await feeder.feed(shardOf(1, [3, 4, 5]), end);
  await expect.poll(waiting).toEqual({ shards: 1, results: 1 });
});
