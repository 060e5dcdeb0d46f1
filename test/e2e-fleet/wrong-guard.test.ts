import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readManifest } from '../../src/record/manifest/manifest.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { temporaryFolder } from '../helpers/cli.ts';
import { writeComments } from '../helpers/corpus.ts';
import { Fleet, expectStatus } from '../helpers/fleet.ts';
import { redisForTest } from '../helpers/redis/redis.ts';
import { outcomes } from '../helpers/run-directory.ts';
import { fingerprintIdOf, startScriptedGuard } from '../helpers/guards/scripted-guard.ts';

const ROWS = 3000;

it(
  'a run that expects another guard ends, names both, and is finished by the right one',
  { timeout: 240_000 },
  async () => {
    const guard = await startScriptedGuard();
    onTestFinished(() => guard.kill());
    guard.deploy('model-b', '2');
    const folder = await temporaryFolder();
    const out = join(folder, 'runs');
    await mkdir(out);
    await writeComments(folder, 'a.csv', ROWS);
    const fleet = new Fleet({ redis: await redisForTest(), out, guards: [guard.address] });
    fleet.worker();
    fleet.sink();
    const [expected, other] = ['model-a', 'model-b'].map(fingerprintIdOf) as [string, string];
    const refused = await fleet.enqueue(join(folder, 'a.csv'), ['--expect-fingerprint', expected]).finished();
    expectStatus(refused, 4);
    expect(refused.stderr).toContain(
      `a worker's guard has the fingerprint ${other}; the run expects ${expected}`,
    );
    const run = await fleet.run();
    expect(await fleet.status(run)).toMatchObject({ state: 'stopped', judged: 0, errors: 0 });

    // With the wrong one still there it ends again; what was said of it then is not held against the right one.
    expectStatus(await fleet.resume(run).finished(), 4);
    guard.deploy('model-a', '3');
    expectStatus(await fleet.resume(run).finished(), 0);
    const lines = await outcomes(run);
    expect(lines).toHaveLength(ROWS);
    expect(new Set(lines.map(({ fingerprint }) => fingerprint))).toEqual(new Set([expected]));
    expect(await verifyRun(run, {})).toMatchObject({ ok: true });
  },
);

it(
  'a worker whose guard fails the canaries ends, and the checks of the others are in the record',
  { timeout: 240_000 },
  async () => {
    const [broken, working] = await Promise.all([
      startScriptedGuard({ canaries: () => 'flags none' }),
      startScriptedGuard(),
    ]);
    onTestFinished(() => [broken, working].forEach((guard) => guard.kill()));
    const folder = await temporaryFolder();
    const out = join(folder, 'runs');
    await mkdir(out);
    await writeComments(folder, 'a.csv', ROWS);
    const redis = await redisForTest();
    const failed = await new Fleet({ redis, out, guards: [broken.address] }).worker().finished();
    expectStatus(failed, 4);
    expect(failed.stderr).toContain(
      `guard ${broken.address} failed the text canaries (built in): it flagged none of 4 violating contents: bomb (allowed,`,
    );
    const fleet = new Fleet({ redis, out, guards: [working.address] });
    fleet.worker();
    fleet.sink();
    expectStatus(await fleet.enqueue(join(folder, 'a.csv')).finished(), 0);
    const run = await fleet.run();
    expect(await verifyRun(run, {})).toMatchObject({ ok: true });
    const { canaries } = await readManifest(run);
    expect(canaries).toMatchObject({
      from: 'workers',
      checks: [{ endpoint: working.address, fingerprint: fingerprintIdOf('model-a'), modality: 'text' }],
    });
    expect(canaries.checks[0]!.answers.every(({ passed }) => passed)).toBe(true);
  },
);
