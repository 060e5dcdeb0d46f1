import { readdir } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { readManifest } from '../../src/record/manifest/manifest.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { Fleet, expectStatus, fleetWithComments } from '../helpers/fleet.ts';
import { redisForTest } from '../helpers/redis/redis.ts';
import { outcomes } from '../helpers/run-directory.ts';
import { guard } from '../helpers/guards/guard-pool.ts';
import { fingerprintIdOf } from '../helpers/guards/scripted-guard.ts';

const ROWS = 3000;

it('a run that expects another guard ends, names both, and is finished by the right one', async () => {
  const server = await guard();
  server.deploy('model-b', '2');
  const { fleet, path } = await fleetWithComments(ROWS, { guards: [server.address] });
  fleet.worker();
  fleet.sink();
  const [expected, other] = ['model-a', 'model-b'].map(fingerprintIdOf) as [string, string];
  const refused = await fleet.enqueue(path, ['--expect-fingerprint', expected]).finished();
  expectStatus(refused, 4);
  expect(refused.stderr).toContain(
    `a worker's guard has the fingerprint ${other}; the run expects ${expected}`,
  );
  const run = await fleet.run();
  expect(await fleet.status(run)).toMatchObject({ state: 'stopped', judged: 0, errors: 0 });

  // With the wrong one still there it ends again; what was said of it then is not held against the right one.
  expectStatus(await fleet.resume(run).finished(), 4);
  server.deploy('model-a', '3');
  expectStatus(await fleet.resume(run).finished(), 0);
  const lines = await outcomes(run);
  expect(lines).toHaveLength(ROWS);
  expect(new Set(lines.map(({ fingerprint }) => fingerprint))).toEqual(new Set([expected]));
  expect(await verifyRun(run, {})).toMatchObject({ ok: true });
});

it('only workers with the guard that a run names judge it, and a guard that no worker has is refused', async () => {
  const [named, other] = await Promise.all([guard(), guard()]);
  const redis = await redisForTest();
  const { fleet, path, out } = await fleetWithComments(ROWS, { redis, guards: [other.address] });
  fleet.worker();
  fleet.sink();
  const args = ['--guard', named.address, '--no-reuse'];
  const refused = await fleet.enqueue(path, [...args, '--start-wait', '5s']).finished();
  expectStatus(refused, 4);
  expect(refused.stderr).toContain(
    `no worker has the guard ${named.address}: the guards of workers are ${other.address}`,
  );
  expect(await readdir(out)).toEqual([]);

  const feeder = fleet.enqueue(path, args);
  new Fleet({ redis, out, guards: [named.address] }).worker();
  expectStatus(await feeder.finished(), 0);
  const lines = await outcomes(await fleet.run());
  expect(lines).toHaveLength(ROWS);
  expect(new Set(lines.map(({ endpoint }) => endpoint))).toEqual(new Set([named.address]));
});

it('a worker whose guard fails the canaries ends, and the checks of the others are in the record', async () => {
  const [broken, working] = await Promise.all([guard({ canaries: () => 'flags none' }), guard()]);
  const redis = await redisForTest();
  const { fleet, path, out } = await fleetWithComments(ROWS, { redis, guards: [working.address] });
  const failed = await new Fleet({ redis, out, guards: [broken.address] }).worker().finished();
  expectStatus(failed, 4);
  expect(failed.stderr).toContain(
    `guard ${broken.address} failed the text canaries (built in): it flagged none of 4 violating contents: bomb (allowed,`,
  );
  fleet.worker();
  fleet.sink();
  expectStatus(await fleet.enqueue(path).finished(), 0);
  const run = await fleet.run();
  expect(await verifyRun(run, {})).toMatchObject({ ok: true });
  const { canaries } = await readManifest(run);
  expect(canaries).toMatchObject({
    from: 'workers',
    checks: [{ endpoint: working.address, fingerprint: fingerprintIdOf('model-a'), modality: 'text' }],
  });
  expect(canaries.checks[0]!.answers.every(({ passed }) => passed)).toBe(true);
});
