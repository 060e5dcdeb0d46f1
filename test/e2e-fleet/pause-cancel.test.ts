import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/config/run-config.ts';
import { readDepths } from '../../src/fleet/redis/depths.ts';
import { MAX_OUTSTANDING_SHARDS } from '../../src/fleet/feeder/outstanding-shards.ts';
import type { RunStatus } from '../../src/fleet/status/run-status.ts';
import { Cli, guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { writeComments } from '../helpers/corpus.ts';
import { expectStatus, fleetWithComments } from '../helpers/fleet.ts';
import { linkForTest, redisForTest } from '../helpers/redis/redis.ts';
import { committedShards, onlyRun, until } from '../helpers/run-directory.ts';

/** More shards than may be outstanding. */
const ROWS = (MAX_OUTSTANDING_SHARDS + 20) * DEFAULT_LIMITS.shardItems;

it(
  'a run of a fleet is paused, continued and cancelled, and says what it lacks',
  { timeout: 240_000 },
  async () => {
    const redis = await redisForTest();
    const { fleet, path } = await fleetWithComments(ROWS, { redis, guards: ['embedded:'] });
    const reaches = (run: string, wanted: Partial<RunStatus>): Promise<RunStatus> =>
      until(async () => {
        const now = await fleet.status(run);
        return Object.entries(wanted).every(([key, value]) => now[key as keyof RunStatus] === value) && now;
      }, JSON.stringify(wanted));

    // Fed before there is a worker.
    const feeder = fleet.enqueue(path, ['--no-reuse']);
    const run = await fleet.run();
    await reaches(run, { stuck: 'waiting for a worker (guardsweep worker)' });
    fleet.worker();
    await reaches(run, { stuck: 'waiting for a sink (guardsweep sink)' });
    const link = await linkForTest(redis);
    const queued = async (which = /./): Promise<number> => {
      const depths = await readDepths(link, new AbortController().signal);
      return depths
        .filter(({ queue }) => which.test(queue))
        .reduce((sum, { waiting, active, delayed }) => sum + waiting + active + delayed, 0);
    };
    await until(async () => (await queued(/^results$/)) > 0, 'a result');
    expectStatus(await guardsweep(['pause', run]), 0);
    await reaches(run, { state: 'paused' });
    fleet.sink();
    // What workers had in hand is committed, and nothing more.
    await until(async () => (await queued()) === 0, 'what was in hand to be committed');
    const committed = await committedShards(run);
    expect(committed).toBeGreaterThan(0);
    expect(committed).toBeLessThan(MAX_OUTSTANDING_SHARDS);
    expect((await fleet.status(run)).state).toBe('paused');
    expectStatus(await guardsweep(['cancel', run]), 0);
    const cancelled = await feeder.finished();
    expect(cancelled.status).toBe(130);
    expect(cancelled.stderr).toContain('resume');
    expect((await fleet.status(run)).state).toBe('cancelled');
    expectStatus(await guardsweep(['continue', run]), 0);
    expectStatus(await fleet.resume(run).finished(), 0);
    expect(await fleet.status(run)).toMatchObject({ state: 'finished', judged: ROWS, stuck: null });
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

it('a second sink waits until the first is gone', async () => {
  const { fleet, path } = await fleetWithComments(20_000, { guards: ['embedded:'] });
  const first = fleet.sink();
  const feeder = fleet.enqueue(path);
  await until(async () => first.stderr.includes('committing the run'), 'the first sink');
  const second = fleet.sink();
  await until(async () => second.stderr.includes('another sink holds the run'), 'the second sink to wait');
  fleet.worker();
  const run = await fleet.run();
  await until(async () => (await committedShards(run)) > 1, 'a commit');
  expect(second.stderr).not.toContain('committing the run');
  first.kill('SIGKILL');
  await first.finished();
  expectStatus(await feeder.finished(), 0);
  expect(second.stderr).toContain('is finished');
  expectStatus(await guardsweep(['verify', run]), 0);
});
