import { createSecretKey } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { shardQueue } from '../../../../src/fleet/redis/fleet-queues.ts';
import { FleetRuns } from '../../../../src/fleet/redis/fleet-runs.ts';
import type { RedisLink } from '../../../../src/queue/redis/link.ts';
import { FleetSeal } from '../../../../src/queue/redis/sealing/fleet-seal.ts';
import { sealedJobs } from '../../../../src/queue/redis/sealing/sealed-jobs.ts';
import { shardJobCodec, type ShardJob } from '../../../../src/fleet/jobs/shard-job.ts';
import { promptItem } from '../../../helpers/items.ts';
import { DEFAULT_JUDGING } from '../../../helpers/run-config.ts';
import { linkForTest, TestRedis } from '../../../helpers/redis/redis.ts';
import { settled } from '../../../helpers/settled.ts';
import { consumerOf, forger } from '../shards-at-work.ts';

const signal = new AbortController().signal;
setMaxListeners(0, signal);

const sealOf = (letter: string): FleetSeal => new FleetSeal(createSecretKey(letter.repeat(64), 'utf8'));
const OWN = sealOf('a');

let redis: TestRedis;
beforeAll(async () => void (redis = await TestRedis.start()));
afterAll(() => redis.stop());

let runs = 0;
const newRun = (): string => `20261121T020000Z-sealed-${String(runs++).padStart(4, '0')}`;

const jobOf = (run: string, shard: number): ShardJob => ({
  run,
  record: 'e'.repeat(64),
  epoch: 1,
  judging: DEFAULT_JUDGING,
  expectFingerprint: null,
  workerGuards: null,
  contentPolicy: null,
  settledMark: null,
  shard: { shard, pass: 1, lane: 'text', items: [promptItem(shard, 'marker-of-content')] },
});

const consumer = async (seal: FleetSeal | null) => consumerOf(await linkForTest(redis, [], seal));

const plainJob = (job: ShardJob): object => ({ plain: shardJobCodec.encode(job).toString('base64') });

const fed = (link: RedisLink, run: string): Promise<void> =>
  new FleetRuns(link).register({ run, dir: '/nowhere', epoch: 1 }, signal);

/** A feeder's side of the queue, for the rest of the test: it has put in the first shard of a run. */
async function feeder(run: string, seal: FleetSeal | null): Promise<RedisLink> {
  const link = await linkForTest(redis, [], seal);
  await fed(link, run);
  const queue = shardQueue(link, 'text');
  onTestFinished(async () => {
    await queue.obliterate(signal);
    await queue.close();
  });
  await queue.put(jobOf(run, 0), signal);
  return link;
}

it('nothing of a job can be read in Redis', async () => {
  const run = newRun();
  const link = await feeder(run, OWN);
  const data = await link.redis.hget(link.key('shards-text', `s-${run}-1-0-1`), 'data');
  expect(data).toMatch(/^\{"sealed":"[\w+/=]+"\}$/);
});

it('a job that no feeder sealed is dropped and counted, and the others are taken', async () => {
  const { link, queue, taken, said, reasons } = await consumer(OWN);
  const run = newRun();
  await fed(link, run);
  const forge = forger(link);
  const plain = (shard: number): object => plainJob(jobOf(run, shard));
  const sealed = (folder: string, name: string, shard: number): object => ({
    sealed: OWN.sealBytes({ run, folder, name }, shardJobCodec.encode(jobOf(run, shard))).toString('base64'),
  });
  await forge(`s-${run}-1-1-1`, plain(1));
  await forge(`s-${run}-1-2-1`, { sealed: 'AAAA' });
  const foreign = { run, folder: 'shards-text', name: `s-${run}-1-3-1` };
  await forge(foreign.name, { sealed: sealOf('b').seal(foreign, '{}') });
  // Genuine, and put into another place: another epoch, another queue, another run.
  await forge(`s-${run}-1-4-2`, sealed('shards-text', `s-${run}-1-4-1`, 4));
  await forge(`s-${run}-1-5-1`, sealed('shards-chat', `s-${run}-1-5-1`, 5));
  await forge(`s-${newRun()}-1-6-1`, sealed('shards-text', `s-${run}-1-6-1`, 6));
  await forge(`s-${run}-1-7-1`, null);
  await forge('no name of ours', plain(8));
  await queue.put(jobOf(run, 9), signal);
  await settled(() => taken.length + reasons.length === 9);
  expect(taken).toEqual([`s-${run}-1-9-1`]);
  expect(reasons.sort()).toEqual([...Array<string>(7).fill('forged'), 'misnamed']);
  // Once a reason, whatever their number.
  expect(said).toHaveLength(2);
  expect(await queue.depth(signal)).toEqual({ waiting: 0, active: 0, delayed: 0 });
});

it('a note about a job is read in its place alone', async () => {
  const content = sealedJobs(shardJobCodec, 'shards-text', OWN);
  const note = content.sealNote('s-r-1-0-1', 'a note');
  expect(content.openNote('s-r-1-0-1', note)).toBe('a note');
  expect(content.openNote('s-r-1-1-1', note)).toBeNull();
  expect(content.openNote('s-r-1-0-1', 'forged')).toBeNull();
  expect(sealedJobs(shardJobCodec, 'shards-chat', OWN).openNote('s-r-1-0-1', note)).toBeNull();
});

it('without a key, too, a job is read only under its own name', async () => {
  const { link, taken, reasons } = await consumer(null);
  const run = newRun();
  await fed(link, run);
  const forge = forger(link);
  await forge(`s-${run}-1-1-2`, plainJob(jobOf(run, 1)));
  await forge(`s-${run}-1-2-1`, { v: 1 });
  await forge(`s-${run}-1-3-1`, plainJob(jobOf(run, 3)));
  await settled(() => taken.length + reasons.length === 3);
  expect(taken).toEqual([`s-${run}-1-3-1`]);
  expect(reasons.sort()).toEqual(['malformed', 'misnamed']);
});

it.each<[string, FleetSeal | null, FleetSeal | null]>([
  ['and this process have different fleet keys', sealOf('b'), OWN],
  ['has no fleet key, and this process has one', null, OWN],
  ['has a fleet key, and this process has none', OWN, null],
])('its feeder %s: the job is requeued, and a notice says why', async (what, feeders, own) => {
  const run = newRun();
  const link = await feeder(run, feeders);
  const { said, taken, reasons, queue } = await consumer(own);
  await settled(async () => (await queue.depth(signal)).delayed === 1);
  expect(said).toHaveLength(1);
  expect(said[0]).toContain(run);
  expect(said[0]).toContain(what);
  expect(await new FleetRuns(link).obstacle(run, signal)).toContain('GUARDSWEEP_FLEET_KEY');
  expect([...taken, ...reasons]).toEqual([]);
});
