import { createSecretKey } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { dirname } from 'node:path';
import { expect, it } from 'vitest';
import { FleetRuns, JOB_FORM } from '../../../src/fleet/redis/fleet-runs.ts';
import type { RedisLink } from '../../../src/queue/redis/link.ts';
import { FleetSeal } from '../../../src/queue/redis/sealing/fleet-seal.ts';
import { newRun } from '../../record/run-fixture.ts';
import { linkForTest, redisForTest } from '../../helpers/redis/redis.ts';
import { settled } from '../../helpers/settled.ts';
import { consumerOf, forger } from '../../queue/redis/shards-at-work.ts';
import { sinkAtWork } from '../sink-at-work.ts';

const signal = new AbortController().signal;
setMaxListeners(0, signal);

const KEY = new FleetSeal(createSecretKey('a'.repeat(64), 'utf8'));
const LATER = JOB_FORM + 1;
const RUN = '20261121T020000Z-skew-ab12';
const ID = `s-${RUN}-1-0-1`;

/** Announces a run as a feeder of the next version does. */
async function announce(link: RedisLink, run: string, dir: string): Promise<void> {
  const proof = link.seal?.seal({ run, folder: 'run', name: run }, JSON.stringify([run, dir, 1, LATER]));
  const key = link.seal?.keyId ?? null;
  const announced = { run, dir, epoch: 1, form: LATER, key, proof: proof ?? null, more: { of: 'it' } };
  await link.redis.set(link.key('run', run), JSON.stringify(announced), 'EX', 600);
  await link.redis.sadd(link.key('runs'), run);
}

it('a job of a later version is requeued by a worker, which continues', async () => {
  const link = await linkForTest(await redisForTest(), [], KEY);
  await announce(link, RUN, '/runs/x');
  const job = { v: LATER, run: RUN, epoch: 1, shard: 0, content: { of: 'another form' } };
  const place = { run: RUN, folder: 'shards-text', name: ID };
  const forge = forger(link);
  await forge(ID, { sealed: KEY.seal(place, JSON.stringify(job)) });
  const { queue, said, reasons, hasEnded } = consumerOf(link);
  await settled(async () => (await queue.depth(signal)).delayed === 1);
  expect(said).toEqual([
    `the run ${RUN}: its feeder runs another version of guardsweep; its jobs are requeued for other processes`,
  ]);
  expect(reasons).toEqual([]);
  expect(await new FleetRuns(link).obstacle(RUN, signal)).toContain('another version');
  // A job whose run was not announced is dropped as malformed.
  await forge('s-20261121T020000Z-other-ab12-1-0-1', { v: LATER });
  await settled(() => reasons.length === 1);
  expect(hasEnded()).toBe(false);
});

it('a run of a later version is skipped by a sink, which continues', async () => {
  const link = await linkForTest(await redisForTest(), [], KEY);
  const { dir, record } = await newRun();
  await announce(link, record.run, dir);
  const { said, end } = sinkAtWork(link, dirname(dir));
  const left = `the run ${record.run} is skipped: its feeder runs another version of guardsweep`;
  await settled(() => said.includes(left));
  expect(await new FleetRuns(link).obstacle(record.run, signal)).toContain('another version');
  expect(await end()).toMatchObject({ message: 'the test is over' });
});
