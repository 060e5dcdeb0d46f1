import { readFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { expect, it, onTestFinished } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/config/run-config.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { guardsweep, temporaryFolder, type Cli } from '../helpers/cli.ts';
import { random, seed, writeComments } from '../helpers/corpus.ts';
import { Fleet, expectStatus } from '../helpers/fleet.ts';
import { redisForTest } from '../helpers/redis/redis.ts';
import { committedShards, comparable, onlyRun, outcomes, until } from '../helpers/run-directory.ts';
import { settled } from '../helpers/settled.ts';
import { forge, KINDS } from './forger.ts';

const ROWS = 20_000;
const FORGERIES = 10_000;
const MAX_RESIDENT_MIB = 1024;
const METRICS = ['--metrics-port', '0'];

/** The highest resident memory that a process had. */
async function residentMib({ child }: Cli): Promise<number> {
  const status = await readFile(`/proc/${child.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+)/.exec(status)![1]) / 1024;
}

/** What a process counted as dropped, by its metrics. */
async function dropped(process: Cli): Promise<number> {
  const url = await until(async () => /metrics at (\S+)/.exec(process.stderr)?.[1], 'metrics');
  const text = await (await fetch(url)).text();
  const counts = text.matchAll(/^guardsweep_(?:jobs|results)_dropped_total\{.*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

it(
  'a run ends right under ten thousand forged jobs, results and keys, and nobody dies',
  { timeout: 240_000 },
  async () => {
    const redis = await redisForTest();
    const folder = await temporaryFolder();
    const [corpus, out] = [join(folder, 'uploads'), join(folder, 'runs')];
    await mkdir(corpus);
    await mkdir(out);
    await writeComments(corpus, 'a.csv', ROWS);
    const env = { GUARDSWEEP_FLEET_KEY: 'a key of this test, none of anybody'.replaceAll(' ', '-') };
    const fleet = new Fleet({ redis, out, guards: ['embedded:'], env });
    const workers = [0, 1].map(() => fleet.worker({ args: ['--concurrency', '2', ...METRICS] }));
    const sink = fleet.sink(METRICS);
    const feeder = fleet.enqueue(corpus);
    const dir = await fleet.run();
    await until(async () => (await committedShards(dir)) >= 2, 'two committed shards');

    const run = dir.split('/').at(-1)!;
    const client = new Redis({ path: `${redis.folder}/redis.sock`, maxRetriesPerRequest: null });
    onTestFinished(() => client.disconnect());
    const [shards, results] = ['shards-text', `results-${run}`].map((name) => {
      const queue = new Queue(name, { connection: client, prefix: '{guardsweep}', skipMetasUpdate: true });
      queue.on('error', () => {});
      return queue;
    }) as [Queue, Queue];
    const pushed = await forge(
      { redis: client, shards, results, run, dir, random: random(seed()) },
      FORGERIES,
    );
    console.log(`forged, of ${Object.keys(KINDS).length} kinds: ${JSON.stringify(pushed)}`);
    expect(
      (await committedShards(dir)) * DEFAULT_LIMITS.shardItems,
      'the run was over before the forger was',
    ).toBeLessThan(ROWS);

    expectStatus(await feeder.finished(), 0);
    expect(feeder.stderr + sink.stderr).not.toContain('\x1b[2J');
    expect(await verifyRun(dir, {})).toMatchObject({ ok: true });
    const alone = join(folder, 'undisturbed');
    expectStatus(await guardsweep(['enqueue', corpus, '--out', alone, '--quiet', '--guard', 'embedded:']), 0);
    expect(comparable(await outcomes(dir))).toEqual(comparable(await outcomes(await onlyRun(alone))));

    const lengths = async (): Promise<number> => {
      const keys = ['shards-text', 'shards-chat'].flatMap((queue) =>
        ['wait', 'active'].map((list) => `{guardsweep}:${queue}:${list}`),
      );
      return (await Promise.all(keys.map((key) => client.llen(key)))).reduce(
        (sum, length) => sum + length,
        0,
      );
    };
    await settled(async () => (await lengths()) === 0, 60_000);
    const left = (): Promise<string[]> => client.keys(`*${run}*`);
    await settled(async () => (await left()).length === 0, 20_000).catch(() => {});
    expect(await left()).toEqual([]);
    const [ofWorkers, ofSink] = [workers, [sink]].map(async (processes) =>
      (await Promise.all(processes.map(dropped))).reduce((sum, count) => sum + count, 0),
    );
    // Those that bear the run's own names leave with the run.
    expect(await ofWorkers).toBeGreaterThan(0.75 * pushed.shards);
    expect(await ofSink).toBeGreaterThan(0.9 * pushed.results);
    const counts = await Promise.all([...workers, sink].map(dropped));
    const resident = await Promise.all([...workers, sink].map(residentMib));
    console.log(`dropped: ${counts.join(', ')}; resident MiB: ${resident.map(Math.round).join(', ')}`);
    for (const process of [...workers, sink]) {
      expect(process.child.exitCode).toBeNull();
      expect(process.child.signalCode).toBeNull();
    }
    expect(Math.max(...resident)).toBeLessThan(MAX_RESIDENT_MIB);
  },
);
