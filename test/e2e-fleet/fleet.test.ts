import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { Cli, guardsweep, printedRun, temporaryFolder, writeFiles } from '../helpers/cli.ts';
import { writeComments } from '../helpers/corpus.ts';
import { Fleet, expectStatus } from '../helpers/fleet.ts';
import { linkForTest, redisForTest } from '../helpers/redis/redis.ts';
import { committedShards, comparable, onlyRun, outcomes, until } from '../helpers/run-directory.ts';
import { settled } from '../helpers/settled.ts';

const ROWS = 8000;
/** So that a run is still under way when something happens to it. */
const FEW_AT_A_TIME = { args: ['--concurrency', '2'] };

/** Two tables, and a chat with roles of its own; the same ones each time. */
async function writeCorpus(corpus: string): Promise<void> {
  const turns = ['user', 'tool', 'function', 'assistant'].map((role) => ({ role, content: `a ${role}` }));
  await writeFiles(corpus, { 'c.jsonl': `${JSON.stringify({ id: 'chat', messages: turns })}\n` });
  await writeComments(corpus, 'a.csv', ROWS / 2);
  await writeComments(corpus, 'b.csv', ROWS / 2, 1 + ROWS / 2);
}

async function setup() {
  const redis = await redisForTest();
  const folder = await temporaryFolder();
  const [corpus, out] = [join(folder, 'uploads'), join(folder, 'runs')];
  await mkdir(out);
  await writeCorpus(corpus);
  return { redis, fleet: new Fleet({ redis, out, guards: ['embedded:'] }), corpus, out };
}

let judgedOnce: Promise<object[]> | null = null;

/** The outcomes of the corpus in one process, with nothing in its way. */
async function judgeUndisturbed(): Promise<object[]> {
  const folder = await temporaryFolder();
  await writeCorpus(join(folder, 'uploads'));
  const flags = ['--guard', 'embedded:', '--quiet', '--no-report'];
  const done = await guardsweep(['enqueue', 'uploads', ...flags], { cwd: folder });
  expectStatus(done, 0);
  return comparable(await outcomes(printedRun(done)));
}

async function expectUndisturbed(run: string): Promise<void> {
  expect(comparable(await outcomes(run))).toEqual(await (judgedOnce ??= judgeUndisturbed()));
  expect(await verifyRun(run, {})).toMatchObject({ ok: true });
}

const progressed = (run: string, shards: number) =>
  until(async () => (await committedShards(run)) >= shards, `${shards} committed shards`);

describe('a run by a fleet', { timeout: 240_000 }, () => {
  it('ends as a run in one process does, and leaves nothing of itself in Redis', async () => {
    const { fleet, corpus, redis } = await setup();
    fleet.worker();
    fleet.worker();
    fleet.sink();
    const done = await fleet.enqueue(corpus).finished();
    expectStatus(done, 0);
    const run = printedRun(done);
    await expectUndisturbed(run);
    expect((await outcomes(run)).at(-1)).toMatchObject({ id: 'chat', roles: { tool: 1, function: 1 } });
    const link = await linkForTest(redis);
    const name = run.split('/').at(-1)!;
    await settled(async () => (await link.redis.keys('*')).every((key) => !key.includes(name)));
  });

  it('loses nothing when worker, sink and feeder are killed', async () => {
    const { fleet, corpus } = await setup();
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
    await expectUndisturbed(run);
  });

  it('goes on when Redis comes back without its data', async () => {
    const { fleet, corpus, redis } = await setup();
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
    for (const said of [/is unavailable; waiting/g, /Redis is back/g])
      expect(done.stderr.match(said)).toHaveLength(1);
    await expectUndisturbed(run);
  });

  it('begun by a fleet can be finished in one process, and the other way round', async () => {
    const { fleet, corpus, out } = await setup();
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
    await expectUndisturbed(run);

    const alone = new Cli(['enqueue', corpus, '--out', `${out}/other`, '--quiet']);
    const second = await until(() => onlyRun(`${out}/other`), 'a run directory');
    await progressed(second, 1);
    alone.kill('SIGSTOP');
    expectStatus(await fleet.resume(second).finished(), 0);
    alone.kill('SIGCONT');
    expect((await alone.finished()).status).toBe(1);
    await expectUndisturbed(second);
  });
});
