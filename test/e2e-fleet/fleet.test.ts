import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { Cli, guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { writeComments } from '../helpers/corpus.ts';
import { Fleet, expectStatus } from '../helpers/fleet.ts';
import { linkForTest, redisForTest, type RedisOptions, type TestRedis } from '../helpers/redis/redis.ts';
import { committedShards, comparable, onlyRun, outcomes, until } from '../helpers/run-directory.ts';
import { settled } from '../helpers/settled.ts';

const ROWS = 8000;
const EMBEDDED = ['embedded:'];
/** So that a run is still under way when something happens to it. */
const FEW_AT_A_TIME = { args: ['--concurrency', '2'] };

interface Setup {
  readonly redis: TestRedis;
  readonly fleet: Fleet;
  readonly folder: string;
  readonly corpus: string;
  readonly out: string;
}

async function setup(options: RedisOptions = {}): Promise<Setup> {
  const redis = await redisForTest(options);
  const folder = await temporaryFolder();
  const corpus = join(folder, 'uploads');
  const out = join(folder, 'runs');
  await mkdir(corpus);
  await mkdir(out);
  await writeComments(corpus, 'a.csv', ROWS / 2);
  await writeComments(corpus, 'b.csv', ROWS / 2, 1 + ROWS / 2);
  return { redis, fleet: new Fleet({ redis, out, guards: EMBEDDED }), folder, corpus, out };
}

async function expectUndisturbed(run: string, { corpus, folder }: Setup): Promise<void> {
  const out = join(folder, 'undisturbed');
  const done = await guardsweep(['enqueue', corpus, '--out', out, '--quiet', '--guard', 'embedded:']);
  expectStatus(done, 0);
  expect(comparable(await outcomes(run))).toEqual(comparable(await outcomes(await onlyRun(out))));
  expect(await verifyRun(run, {})).toMatchObject({ ok: true });
}

const progressed = (run: string, shards: number): Promise<true> =>
  until(async () => (await committedShards(run)) >= shards && (true as const), `${shards} committed shards`);

describe('a run by a fleet', { timeout: 240_000 }, () => {
  it('ends as a run in one process does, and leaves nothing of itself in Redis', async () => {
    const all = await setup();
    const { fleet, corpus, redis } = all;
    const turns = ['user', 'tool', 'function', 'assistant'].map((role) => ({ role, content: `a ${role}` }));
    await writeFile(join(corpus, 'c.jsonl'), `${JSON.stringify({ id: 'chat', messages: turns })}\n`);
    fleet.worker();
    fleet.worker();
    fleet.sink();
    const done = await fleet.enqueue(corpus).finished();
    expectStatus(done, 0);
    const run = done.stdout.trim().split('\n').at(-1)!;
    await expectUndisturbed(run, all);
    expect((await outcomes(run)).at(-1)).toMatchObject({ id: 'chat', roles: { tool: 1, function: 1 } });
    const link = await linkForTest(redis);
    const name = run.split('/').at(-1)!;
    await settled(async () => (await link.redis.keys('*')).every((key) => !key.includes(name)));
  });

  it('loses nothing when worker, sink and feeder are killed', async () => {
    const all = await setup();
    const { fleet, corpus } = all;
    const worker = fleet.worker(FEW_AT_A_TIME);
    fleet.worker(FEW_AT_A_TIME);
    const sink = fleet.sink();
    const feeder = fleet.enqueue(corpus);
    const run = await fleet.run();
    await progressed(run, 2);
    worker.kill('SIGKILL');
    await progressed(run, 4);
    sink.kill('SIGKILL');
    feeder.kill('SIGKILL');
    fleet.sink();
    await delay(500);
    expectStatus(await fleet.resume(run).finished(), 0);
    await expectUndisturbed(run, all);
  });

  it('goes on when Redis comes back without its data', async () => {
    const all = await setup();
    const { fleet, corpus, redis } = all;
    fleet.worker(FEW_AT_A_TIME);
    fleet.sink();
    const feeder = fleet.enqueue(corpus);
    const run = await fleet.run();
    await progressed(run, 2);
    await redis.kill();
    await delay(1000);
    await redis.boot();
    const done = await feeder.finished();
    expectStatus(done, 0);
    expect(done.stderr.match(/is unavailable; waiting/g)).toHaveLength(1);
    await expectUndisturbed(run, all);
  });

  it('begun by a fleet can be finished in one process, and the other way round', async () => {
    const all = await setup();
    const { fleet, corpus, out } = all;
    const worker = fleet.worker(FEW_AT_A_TIME);
    fleet.sink();
    const feeder = fleet.enqueue(corpus);
    const run = await fleet.run();
    await progressed(run, 2);
    // The fleet is not through when this process takes over, however fast it is.
    worker.kill('SIGSTOP');
    const unnamed = await guardsweep(['resume', run]);
    expectStatus(unnamed, 2);
    expect(unnamed.stderr).toMatch(/REDIS_URL.*GUARD_URL/);
    expectStatus(await guardsweep(['resume', run], { env: { GUARD_URL: 'embedded:' } }), 0);
    const overtaken = await feeder.finished();
    expect(overtaken.status).toBe(1);
    expect(overtaken.stderr).toMatch(/another process feeds/);
    worker.kill('SIGCONT');
    await expectUndisturbed(run, all);

    const alone = new Cli(['enqueue', corpus, '--out', `${out}/other`, '--quiet']);
    const second = await until(() => onlyRun(`${out}/other`), 'a run directory');
    await progressed(second, 1);
    alone.kill('SIGSTOP');
    expectStatus(await fleet.resume(second).finished(), 0);
    alone.kill('SIGCONT');
    expect((await alone.finished()).status).toBe(1);
    await expectUndisturbed(second, { ...all, folder: `${all.folder}/second` });
  });
});
