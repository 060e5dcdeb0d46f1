import { setMaxListeners } from 'node:events';
import { chmod, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { recordSha256 } from '../../../src/config/run-config.ts';
import { DEFAULT_JUDGING } from '../../helpers/run-config.ts';
import { shardQueue, sinkQueue } from '../../../src/fleet/redis/fleet-queues.ts';
import { sweepRun } from '../../../src/fleet/redis/sweep-run.ts';
import { FleetRuns } from '../../../src/fleet/redis/fleet-runs.ts';
import type { RedisLink } from '../../../src/queue/redis/link.ts';
import { finishJobId } from '../../../src/fleet/jobs/result-job.ts';
import { FeedClaim } from '../../../src/runs/control/feed-claim.ts';
import { temporaryFolder } from '../../helpers/cli.ts';
import { linkForTest, redisForTest } from '../../helpers/redis/redis.ts';
import { settled } from '../../helpers/settled.ts';
import { sinkAtWork } from '../sink-at-work.ts';
import { feeding, newRun, signal } from '../../record/run-fixture.ts';
import { resultOf, shardOf } from '../../record/shards.ts';

setMaxListeners(0, signal);

/** A run whose feeder of a fleet is gone, with all that it and a worker left in Redis. */
async function leftRun(link: RedisLink) {
  const run = await newRun();
  const name = run.record.run;
  const record = recordSha256(run.record);
  const claim = await FeedClaim.take(run.dir, { fleet: true });
  await claim.release();
  const { epoch } = claim;
  const runs = new FleetRuns(link);
  await runs.register({ run: name, dir: run.dir, epoch }, signal);
  await runs.noteObstacle(name, 'a worker lacks something', signal);
  const shards = shardQueue(link, 'text');
  const results = sinkQueue(link, name);
  const job = { run: name, record, epoch, settledMark: null };
  const none = { expectFingerprint: null, workerGuards: null, contentPolicy: null };
  for (const shard of [0, 1].map((each) => shardOf(each, [each])))
    await shards.put({ ...job, ...none, judging: DEFAULT_JUDGING, shard }, signal);
  // As of a worker that died with a shard.
  await link.redis.set(link.key('shards-text', `s-${name}-1-3-${epoch}`, 'lock'), 'a token', 'PX', 2000);
  await results.put({ kind: 'result', ...job, result: resultOf(shardOf(2, [2])) }, signal);
  await Promise.all([shards.close(), results.close()]);
  const left = () => link.redis.keys(`*${name}*`);
  const isSwept = async (): Promise<void> => {
    await settled(async () => (await left()).length === 0);
    // The name itself is struck off last.
    await settled(async () => (await link.redis.smembers(link.key('runs'))).length === 0);
  };
  return { run, name, runs, left, isSwept };
}

/** A run that a feeder of a fleet holds for the rest of the test; `register` announces it. */
async function fedRun(link: RedisLink, options: { readonly name?: string } = {}) {
  const { dir, record } = await newRun(options);
  const claim = await feeding(dir);
  const runs = new FleetRuns(link);
  const register = () => runs.register({ run: record.run, dir, epoch: claim.epoch }, signal);
  return { dir, record, claim, runs, register };
}

it('nothing of a run stays in Redis that a single process went on with', async () => {
  const link = await linkForTest(await redisForTest());
  const { run, name, runs, isSwept } = await leftRun(link);
  sinkAtWork(link, dirname(run.dir));
  await settled(async () => (await link.redis.llen(link.key(`results-${name}`, 'wait'))) === 0);
  expect(await runs.isRegistered(name, signal)).toBe(true);
  await feeding(run.dir, false);
  await isSwept();
  expect(await link.redis.llen(link.key('shards-text', 'wait'))).toBe(0);
});

it('a run whose name begins with that of a swept one keeps its shards', async () => {
  const link = await linkForTest(await redisForTest());
  const { name } = await leftRun(link);
  const other = link.key('shards-text', `s-${name}-12-1-1-1`);
  await link.redis.hset(other, 'data', 'of another run');
  await sweepRun(link, name, signal);
  const left = await link.redis.keys(`${link.key('shards-text')}:s-*`);
  expect(left.sort()).toEqual([expect.stringMatching(/:lock$/), other]);
});

it('a run that is still fed, or waits to be, keeps what it has in Redis', async () => {
  const link = await linkForTest(await redisForTest());
  const { run, left } = await leftRun(link);
  const before = (await left()).length;
  expect(before).toBeGreaterThan(6);
  sinkAtWork(link, dirname(run.dir));
  await feeding(run.dir);
  await new Promise((resolve) => setTimeout(resolve, 2000));
  expect((await left()).filter((key) => key.includes('shards-text'))).toHaveLength(2);
});

it('nothing of a run stays in Redis that nobody has fed for long, wherever its directory is', async () => {
  const link = await linkForTest(await redisForTest());
  const { name, isSwept } = await leftRun(link);
  // As Redis does it after ten minutes.
  await link.redis.del(link.key('run', name), link.key('obstacle', name));
  expect(await new FleetRuns(link).list(signal)).toEqual([]);
  sinkAtWork(link, await temporaryFolder());
  await isSwept();
});

it('an end that an earlier feeder asked for is no business of the one that feeds now', async () => {
  const link = await linkForTest(await redisForTest());
  const { run, name, runs } = await leftRun(link);
  const { epoch } = await feeding(run.dir);
  await runs.register({ run: name, dir: run.dir, epoch }, signal);
  const results = sinkQueue(link, name);
  const earlier = { run: name, record: recordSha256(run.record), epoch: epoch - 1 };
  await results.put({ kind: 'finish', ...earlier, pass: 1 }, signal);
  sinkAtWork(link, dirname(run.dir));
  await settled(async () => !(await results.has(finishJobId(name, 1, earlier.epoch), signal)));
  expect(await runs.takeProblem(name, epoch, signal)).toBeNull();
  await results.close();
});

it('a run whose control folder cannot be read is skipped, and the sink continues', async () => {
  const link = await linkForTest(await redisForTest());
  const [broken, other] = [await newRun(), await fedRun(link, { name: 'other' })];
  await writeFile(join(broken.dir, 'control'), 'no folder');
  await other.runs.register({ run: broken.record.run, dir: broken.dir, epoch: 1 }, signal);
  const { said } = sinkAtWork(link, dirname(dirname(broken.dir)));
  const left = `the folder control of the run ${broken.record.run} cannot be read (ENOTFILE): skipped`;
  await settled(() => said.includes(left));
  await other.register();
  await settled(() => said.includes(`committing the run ${other.record.run}`));
  expect(said.filter((line) => line === left)).toHaveLength(1);
  await rm(join(broken.dir, 'control'));
  await settled(() => said.includes(`committing the run ${broken.record.run}`));
});

it('a run in whose directory others can write is not committed, and its feeder is told why', async () => {
  const link = await linkForTest(await redisForTest());
  const { dir, record, claim, runs, register } = await fedRun(link);
  await register();
  await chmod(join(dir, 'log'), 0o770);
  const { said } = sinkAtWork(link, dirname(dir));
  let problem: unknown = null;
  await settled(async () => (problem ??= await runs.takeProblem(record.run, claim.epoch, signal)) !== null);
  expect(JSON.stringify(problem)).toContain('others can write in');
  expect(said).not.toContain(`committing the run ${record.run}`);
  expect(await readdir(join(dir, 'log'))).toEqual([]);
});
