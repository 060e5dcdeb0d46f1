import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { random, sentence } from '../helpers/corpus.ts';
import { expectStatus, fleetWithComments } from '../helpers/fleet.ts';
import { linkForTest, redisForTest } from '../helpers/redis/redis.ts';
import { until } from '../helpers/run-directory.ts';

const MIB = 1024 * 1024;
const MAX_MEMORY = 12 * MIB;
const ROWS = 16_000;

it('a Redis that somebody else has filled holds a run up, which says why, and goes on when there is room', async () => {
  const redis = await redisForTest({ settings: ['--maxmemory', String(MAX_MEMORY)] });
  const { fleet, path } = await fleetWithComments(1, { redis, guards: ['embedded:'], lock: '60s' });
  // Shards of these rows, all at once, would be far more than Redis may hold.
  const next = random(1);
  const rows = Array.from({ length: ROWS }, (_, row) => `c-${row},${row} ${sentence(next, 80)}`);
  await writeFile(path, `id,text\n${rows.join('\n')}\n`);
  const { redis: client } = await linkForTest(redis);
  fleet.worker();
  fleet.sink();
  const fillers: string[] = [];
  const fill = async (): Promise<void> => {
    for (;;) {
      await client.set(`filler-${fillers.length}`, Buffer.alloc(MIB / 8));
      fillers.push(`filler-${fillers.length}`);
    }
  };
  await until(async () => (await client.keys('*:alive:*')).length === 2, 'worker and sink');
  await expect(fill()).rejects.toThrow('OOM');
  const feeder = fleet.enqueue(path);
  const full = /Redis is full: it holds 1[0-2] of the 12 MiB that maxmemory allows/;
  await until(async () => full.test(feeder.stderr), 'the feeder to say that Redis is full');
  const run = await fleet.run();
  expect((await fleet.status(run)).stuck).toMatch(full);
  await client.del(fillers);
  expectStatus(await feeder.finished(), 0);
  expect(await verifyRun(run, {})).toMatchObject({ ok: true });
});
