import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { DEFAULT_LIMITS } from '../../src/config/run-config.ts';
import { temporaryFolder } from '../helpers/cli.ts';
import { writeComments } from '../helpers/corpus.ts';
import { expectStatus, Fleet } from '../helpers/fleet.ts';
import { startScriptedGuard } from '../helpers/guards/scripted-guard.ts';
import { redisForTest } from '../helpers/redis/redis.ts';
import { committedShards, onlyRun, until } from '../helpers/run-directory.ts';

const BIG_SHARDS = 200;
const CONCURRENCY = 4;

it(
  'a small run behind a big one is judged by turns, and says that it waits for its turn',
  { timeout: 240_000 },
  async () => {
    const redis = await redisForTest();
    const folder = await temporaryFolder();
    const out = join(folder, 'runs');
    const later = join(folder, 'later');
    await Promise.all([mkdir(out), mkdir(later)]);
    await writeComments(folder, 'big.csv', BIG_SHARDS * DEFAULT_LIMITS.shardItems);
    await writeComments(folder, 'small.csv', 200, 1_000_000);
    let isHeld = false;
    const guard = await startScriptedGuard({
      script: async () => {
        do await delay(50);
        while (isHeld);
      },
    });
    onTestFinished(() => guard.kill());
    const options = { redis, guards: [guard.address] };
    const fleet = new Fleet({ ...options, out });
    fleet.worker({ args: ['--concurrency', String(CONCURRENCY)] });
    fleet.sink(['--root', later]);
    const feeder = fleet.enqueue(join(folder, 'big.csv'), ['--no-reuse', '--priority', 'high']);
    const big = await fleet.run();
    await until(async () => (await committedShards(big)) > 1, 'the big run to begin');
    isHeld = true;
    const other = new Fleet({ ...options, out: later });
    const small = other.enqueue(join(folder, 'small.csv'), ['--no-reuse', '--priority', 'low']);
    const run = await until(() => onlyRun(later), 'the small run');
    await until(
      async () =>
        /^waiting for its turn: the workers judge \d+ shards of other runs$/.test(
          (await other.status(run)).stuck ?? '',
        ),
      'the small run to wait for its turn',
    );
    expect(await other.status(run)).toMatchObject({ run: basename(run), priority: 'low', judged: 0 });
    const before = await committedShards(big);
    isHeld = false;
    await until(async () => (await committedShards(run)) > 0, 'the small run to be judged');
    // What the worker had in hand, and what it took beside the small run's shard.
    expect((await committedShards(big)) - before).toBeLessThan(BIG_SHARDS / 2);
    expect((await fleet.status(big)).state).toBe('running');
    expectStatus(await small.finished(), 0);
    feeder.kill('SIGTERM');
    expectStatus(await feeder.finished(), 130);
  },
);
