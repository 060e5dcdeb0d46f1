import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/config/run-config.ts';
import { readDepths } from '../../src/fleet/redis/depths.ts';
import { latestFeedEpoch } from '../../src/runs/control/feed-claim.ts';
import { MAX_OUTSTANDING_SHARDS } from '../../src/fleet/feeder/outstanding-shards.ts';
import type { RunStatus } from '../../src/fleet/status/run-status.ts';
import { Cli, guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { writeComments } from '../helpers/corpus.ts';
import { Fleet, expectStatus } from '../helpers/fleet.ts';
import { gate } from '../helpers/guards/gate.ts';
import { linkForTest, redisForTest } from '../helpers/redis/redis.ts';
import { committedShards, onlyRun, until } from '../helpers/run-directory.ts';
import { startScriptedGuard } from '../helpers/guards/scripted-guard.ts';

/** More shards than may be outstanding. */
const ROWS = (MAX_OUTSTANDING_SHARDS + 20) * DEFAULT_LIMITS.shardItems;

const status = async (run: string, redis: string): Promise<RunStatus> => {
  const done = await guardsweep(['status', run, '--json'], { env: { REDIS_URL: redis } });
  expectStatus(done, 0);
  return (JSON.parse(done.stdout) as RunStatus[])[0]!;
};

const reaches = (run: string, redis: string, wanted: Partial<RunStatus>): Promise<RunStatus> =>
  until(async () => {
    const now = await status(run, redis);
    return Object.entries(wanted).every(([key, value]) => now[key as keyof RunStatus] === value) && now;
  }, JSON.stringify(wanted));

it(
  'a run of a fleet is paused, continued and cancelled, and says what it lacks',
  { timeout: 240_000 },
  async () => {
    const redis = await redisForTest();
    const folder = await temporaryFolder();
    const out = join(folder, 'runs');
    await mkdir(out);
    await writeComments(folder, 'a.csv', ROWS);
    const fleet = new Fleet({ redis, out, guards: ['embedded:'] });

    // Fed before there is a worker.
    const feeder = fleet.enqueue(join(folder, 'a.csv'), ['--no-reuse']);
    const run = await fleet.run();
    await reaches(run, redis.url, { stuck: 'waiting for a worker (guardsweep worker)' });
    fleet.worker();
    await reaches(run, redis.url, { stuck: 'waiting for a sink (guardsweep sink)' });
    expectStatus(await guardsweep(['pause', run]), 0);
    await reaches(run, redis.url, { state: 'paused' });
    fleet.sink();
    // What workers had in hand is committed, and nothing more.
    const link = await linkForTest(redis);
    const queued = async (): Promise<number> => {
      const depths = await readDepths(link, new AbortController().signal);
      return depths.reduce((sum, { waiting, active, delayed }) => sum + waiting + active + delayed, 0);
    };
    await until(async () => (await queued()) === 0, 'what was in hand to be committed');
    const committed = await committedShards(run);
    expect(committed).toBeGreaterThan(0);
    expect(committed).toBeLessThan(MAX_OUTSTANDING_SHARDS);
    expect((await status(run, redis.url)).state).toBe('paused');
    expectStatus(await guardsweep(['cancel', run]), 0);
    const cancelled = await feeder.finished();
    expect(cancelled.status).toBe(130);
    expect(cancelled.stderr).toContain('resume');
    expect((await status(run, redis.url)).state).toBe('cancelled');
    expectStatus(await guardsweep(['continue', run]), 0);
    expectStatus(await fleet.resume(run).finished(), 0);
    expect(await status(run, redis.url)).toMatchObject({ state: 'finished', judged: ROWS, stuck: null });
    expectStatus(await guardsweep(['verify', run]), 0);
  },
);

it(
  "a feeder that was held feeds again what an earlier one's workers judged meanwhile",
  { timeout: 240_000 },
  async () => {
    const SHARDS = 12;
    const redis = await redisForTest();
    const link = await linkForTest(redis);
    const folder = await temporaryFolder();
    const out = join(folder, 'runs');
    await mkdir(out);
    await writeComments(folder, 'a.csv', SHARDS * DEFAULT_LIMITS.shardItems);
    const judging = gate();
    const guard = await startScriptedGuard({ script: () => judging.opened });
    onTestFinished(() => guard.kill());
    const fleet = new Fleet({ redis, out, guards: [guard.address], lock: '5m' });
    fleet.worker();
    fleet.sink();
    const first = fleet.enqueue(join(folder, 'a.csv'));
    const run = await fleet.run();
    const inHand = (): Promise<number> => link.redis.llen(link.key('shards-text', 'active'));
    await until(async () => (await inHand()) === SHARDS, 'a worker to have everything in hand');
    expectStatus(await guardsweep(['pause', run]), 0);
    first.kill('SIGKILL');
    await first.finished();

    const second = fleet.resume(run);
    await until(async () => (await latestFeedEpoch(run)) === 2, 'the second feeder');
    await reaches(run, redis.url, { state: 'paused', judged: 0 });
    judging.open();
    await until(async () => (await inHand()) === 0, 'the worker to be done');
    expect(await committedShards(run)).toBe(0);
    expectStatus(await guardsweep(['continue', run]), 0);
    expectStatus(await second.finished(), 0);
    expect(await committedShards(run)).toBe(SHARDS);
    expect(guard.seen.reduce((rows, request) => rows + request.rows, 0)).toBe(
      2 * SHARDS * DEFAULT_LIMITS.shardItems,
    );
    expectStatus(await guardsweep(['verify', run]), 0);
  },
);

it('a run in one process is paused, continued and cancelled as well', { timeout: 240_000 }, async () => {
  const folder = await temporaryFolder();
  const out = join(folder, 'runs');
  await writeComments(folder, 'a.csv', 60_000);
  const cli = new Cli(['enqueue', join(folder, 'a.csv'), '--out', out]);
  const run = await until(() => onlyRun(out), 'a run directory');
  expectStatus(await guardsweep(['pause', run]), 0);
  await until(async () => cli.stderr.includes('the run is paused'), 'the pause');
  const same = await guardsweep(['enqueue', join(folder, 'a.csv'), '--out', out]);
  expect(same.stderr).toContain(`another run of these sources is running: guardsweep status ${run}`);
  expectStatus(await guardsweep(['continue', run]), 0);
  await until(async () => cli.stderr.includes('the run continues'), 'the run to continue');
  expectStatus(await guardsweep(['cancel', run]), 0);
  const cancelled = await cli.finished();
  expect(cancelled.status).toBe(130);
  expect(cancelled.stderr).toContain(
    'guardsweep: cancelled; what was judged is kept, finish it with: guardsweep resume',
  );
  const { stdout } = await guardsweep(['status', run]);
  expect(stdout).toContain(`${basename(run)}: cancelled; guardsweep resume continues it\n`);
  expectStatus(await guardsweep(['resume', run, '--quiet']), 0);
  expectStatus(await guardsweep(['verify', run]), 0);
});

it.each(['SIGTERM', 'SIGKILL'] as const)(
  'a second sink waits until the first is gone by %s',
  { timeout: 240_000 },
  async (signal) => {
    const redis = await redisForTest();
    const folder = await temporaryFolder();
    const out = join(folder, 'runs');
    await mkdir(out);
    await writeComments(folder, 'a.csv', 20_000);
    const fleet = new Fleet({ redis, out, guards: ['embedded:'] });
    const first = fleet.sink();
    const feeder = fleet.enqueue(join(folder, 'a.csv'));
    await until(async () => first.stderr.includes('committing the run'), 'the first sink');
    const second = fleet.sink();
    await until(async () => second.stderr.includes('another sink holds the run'), 'the second sink to wait');
    fleet.worker();
    const run = await fleet.run();
    await until(async () => (await committedShards(run)) > 1, 'a commit');
    expect(second.stderr).not.toContain('committing the run');
    first.kill(signal);
    expect(await first.finished()).toMatchObject(signal === 'SIGTERM' ? { status: 0 } : { signal });
    expectStatus(await feeder.finished(), 0);
    expect(second.stderr).toContain('is finished');
    expectStatus(await guardsweep(['verify', run]), 0);
  },
);
