import { createSecretKey } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { FleetRuns, JOB_FORM } from '../../../src/fleet/redis/fleet-runs.ts';
import { findRunDirectory } from '../../../src/fleet/sink/find-run-directory.ts';
import { FleetSeal } from '../../../src/queue/redis/sealing/fleet-seal.ts';
import { temporaryFolder, writeFiles } from '../../helpers/cli.ts';
import { linkForTest, redisForTest, TestRedis } from '../../helpers/redis/redis.ts';

const signal = new AbortController().signal;
setMaxListeners(0, signal);

const sealOf = (letter: string): FleetSeal => new FleetSeal(createSecretKey(letter.repeat(64), 'utf8'));
const OWN = sealOf('a');
const RUN = '20261121T020000Z-test-ab12';

let redis: TestRedis;
beforeAll(async () => void (redis = await TestRedis.start()));
afterAll(() => redis.stop());

let runs = 0;
/** A run of a fleet with a key, announced by its feeder. */
async function announced() {
  const link = await linkForTest(redis, [], OWN);
  const run = `20261121T020000Z-told-${String(runs++).padStart(4, '0')}`;
  const fleet = new FleetRuns(link);
  await fleet.register({ run, dir: '/runs/of-the-feeder', epoch: 2 }, signal);
  const key = link.key('run', run);
  const said = JSON.parse((await link.redis.get(key))!) as Record<string, unknown>;
  return { link, fleet, run, key, said };
}

it.each<[string, object]>([
  ['of another folder', { dir: '/' }],
  ['without a proof', { proof: null }],
])('an announcement %s, changed by somebody without the key, is nobody’s', async (_, change) => {
  const { link, fleet, run, key, said } = await announced();
  await link.redis.set(key, JSON.stringify({ ...said, ...change }));
  expect(await fleet.find(run, signal)).toBe('unreadable');
  expect(await fleet.listAll([], signal)).not.toMatchObject({ fed: [{ run }] });
});

it('an announcement is read by who has the key, and that of one run is none of another', async () => {
  const [one, other] = [await announced(), await announced()];
  const expected = { run: other.run, dir: '/runs/of-the-feeder', epoch: 2, form: JOB_FORM, key: OWN.keyId };
  expect(await other.fleet.find(other.run, signal)).toEqual(expected);
  await one.link.redis.set(other.key, JSON.stringify({ ...one.said, run: other.run }));
  expect(await other.fleet.find(other.run, signal)).toBe('unreadable');
});

it('a problem that was not sealed for its run ends no feeder', async () => {
  const [{ link, fleet, run }, other] = [await announced(), await announced()];
  const problem = { kind: 'service', message: 'give up', epoch: 2 } as const;
  const plain = new FleetRuns(await linkForTest(redis));
  await plain.reportProblem(run, problem, signal);
  expect(await fleet.takeProblem(run, 2, signal)).toBeNull();
  await new FleetRuns(await linkForTest(redis, [], sealOf('b'))).reportProblem(run, problem, signal);
  expect(await fleet.takeProblem(run, 2, signal)).toBeNull();
  await fleet.reportProblem(other.run, problem, signal);
  await link.redis.rename(link.key('problem', other.run), link.key('problem', run));
  expect(await fleet.takeProblem(run, 2, signal)).toBeNull();
  await fleet.reportProblem(run, problem, signal);
  expect(await fleet.takeProblem(run, 2, signal)).toEqual(problem);
});

it('no run is called by anything but the name of a run', async () => {
  const link = await linkForTest(await redisForTest());
  const fleet = new FleetRuns(link);
  const folder = await temporaryFolder();
  const root = join(folder, 'root');
  for (const run of ['../run', '..', '*', `${RUN}/../x`, `${RUN}\n`, RUN.toUpperCase()]) {
    await link.redis.set(link.key('run', run), JSON.stringify({ run, dir: '/runs', epoch: 1 }));
    await link.redis.sadd(link.key('runs'), run);
    expect(await fleet.listAll([], signal)).toEqual({ fed: [], forgotten: [] });
    expect(await fleet.isRegistered(run, signal)).toBe(false);
    const config = { sources: [{ path: '/' }] };
    const tool = { name: 'guardsweep' };
    const record = JSON.stringify({ schema: 1, run, tool, created_at: '', sources_sha256: '', config });
    await writeFiles(folder, { 'run.json': record, 'root/run/run.json': record });
    expect(await findRunDirectory({ run, dir: join(root, 'run'), epoch: 1 }, [root])).toBeNull();
  }
});
