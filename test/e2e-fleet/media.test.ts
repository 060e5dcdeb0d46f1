import { cp, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { random, seed } from '../helpers/corpus.ts';
import { Fleet, expectStatus } from '../helpers/fleet.ts';
import { writeMixedCorpus } from '../helpers/mixed-corpus.ts';
import { ObjectStore } from '../helpers/object-store.ts';
import { redisForTest } from '../helpers/redis/redis.ts';
import {
  committedShards,
  comparable,
  onlyRun,
  outcomes,
  progressed,
  until,
} from '../helpers/run-directory.ts';
import { syntheticGuard } from '../helpers/guards/shared-guard.ts';

async function setup(files: number, env: NodeJS.ProcessEnv = {}) {
  const chosen = seed();
  const redis = await redisForTest();
  const folder = await temporaryFolder();
  const corpus = await writeMixedCorpus(join(folder, 'uploads'), files, chosen);
  const out = join(folder, 'runs');
  await mkdir(out);
  const { address } = await syntheticGuard();
  return { fleet: new Fleet({ redis, out, guards: [address], env }), folder, corpus, address, chosen };
}

type Setup = Awaited<ReturnType<typeof setup>>;

async function expectUndisturbed(run: string, { corpus, folder, address }: Setup): Promise<void> {
  const out = join(folder, 'undisturbed');
  expectStatus(await guardsweep(['enqueue', corpus.path, '--out', out, '--quiet', '--guard', address]), 5);
  expect(comparable(await outcomes(run))).toEqual(comparable(await outcomes(await onlyRun(out))));
  expect(await verifyRun(run, {})).toMatchObject({ ok: true });
}

describe('media by a fleet', { timeout: 240_000 }, () => {
  it('are judged where the corpus is mounted, as in one process, though workers are killed', async () => {
    const all = await setup(250);
    const { fleet, folder, corpus, chosen } = all;
    const next = random(chosen);
    const mount = join(folder, 'mnt', 'elsewhere');
    await cp(corpus.path, mount, { recursive: true });
    fleet.worker();
    const root = ['--root', `uploads=${mount}`];
    let worker = fleet.worker({ args: root });
    fleet.sink();
    const feeder = fleet.enqueue(corpus.path);
    const run = await fleet.run();
    for (let death = 0; death < 2; death++) {
      const wanted = (await committedShards(run)) + 1 + Math.floor(next() * 2);
      await progressed(feeder, join(folder, 'runs'), wanted);
      worker.kill('SIGKILL');
      await worker.finished();
      worker = fleet.worker({ args: root });
    }
    expectStatus(await feeder.finished(), 5);
    await expectUndisturbed(run, all);
  });

  it('in object storage are read there by a worker whose root is a prefix', async () => {
    const store = await ObjectStore.start();
    const all = await setup(60, store.env);
    const { fleet, corpus } = all;
    await store.putFolder(corpus.path, 'stored/uploads/');
    fleet.worker({ args: ['--root', 'uploads=s3://uploads/stored/uploads/'] });
    fleet.sink();
    const feeder = fleet.enqueue('s3://uploads/stored/uploads');
    const run = await fleet.run();
    expectStatus(await feeder.finished(), 5);
    await expectUndisturbed(run, all);
  });

  it('wait for a worker that has them, and the run says for what', async () => {
    const all = await setup(100);
    const { fleet, folder, corpus } = all;
    fleet.sink();
    const textOnly = fleet.worker();
    const feeder = fleet.enqueue(corpus.path);
    const run = await fleet.run();
    const stuck = (what: RegExp): Promise<true> =>
      until(async () => what.test((await fleet.status(run)).stuck ?? '') && (true as const), String(what));
    await stuck(
      /waiting for a worker that takes the lane (image|audio) \(guardsweep worker --lanes, and --root/,
    );
    const wrong = join(folder, 'wrong');
    await mkdir(wrong);
    const other = fleet.worker({ args: ['--root', wrong] });
    await stuck(/a worker does not have the corpus/);
    other.kill('SIGTERM');
    await other.finished();
    fleet.worker({ args: ['--root', corpus.path] });
    expectStatus(await feeder.finished(), 5);
    expect(textOnly.child.exitCode).toBeNull();
    await expectUndisturbed(run, all);
  });

  it('are left to a worker that has all files of a shard; those that none has end retryably', async () => {
    const all = await setup(100);
    const { fleet, folder, corpus } = all;
    const [whole, part] = ['whole', 'part'].map((name) => join(folder, name)) as [string, string];
    for (const mirror of [whole, part]) await cp(corpus.path, mirror, { recursive: true });
    const names = (await readdir(join(part, 'pictures'))).filter((name) => name.endsWith('.png')).sort();
    expect(names.length).toBeGreaterThan(1);
    for (const name of names.slice(1)) await rm(join(part, 'pictures', name));
    const workers = [part, whole].map((mirror) => fleet.worker({ args: ['--root', `uploads=${mirror}`] }));
    for (const worker of workers) await until(async () => /takes .*image/.test(worker.stderr), 'a worker');
    fleet.sink();
    const gone = join(whole, 'pictures', names[1]!);
    await rename(gone, `${gone}.away`);
    const feeder = fleet.enqueue(corpus.path);
    const run = await fleet.run();
    expectStatus(await feeder.finished(), 5);
    const unreadable = (await outcomes(run)).filter(
      ({ error, source }) => error?.code === 'UNREADABLE_SOURCE' && source.row === null,
    );
    expect(unreadable.map(({ source }) => source.path)).toContain(`uploads/pictures/${names[1]!}`);
    expect(unreadable.every(({ error }) => error!.retryable)).toBe(true);
    await rename(`${gone}.away`, gone);
    expectStatus(await fleet.retry(run).finished(), 5);
    await expectUndisturbed(run, all);
  });
});
