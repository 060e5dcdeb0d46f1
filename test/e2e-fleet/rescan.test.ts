import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { DEFAULT_POLICY } from '../../src/domain/policy.ts';
import { findRestriction } from '../../src/domain/restriction/restriction.ts';
import type { OutcomeLine } from '../../src/domain/outcome.ts';
import type { Summary } from '../../src/record/summary/summary.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { type Finished, guardsweep, temporaryFolder, writeFiles } from '../helpers/cli.ts';
import { writeComments } from '../helpers/corpus.ts';
import { expectStatus, Fleet } from '../helpers/fleet.ts';
import { redisForTest } from '../helpers/redis/redis.ts';
import { comparable, outcomes } from '../helpers/run-directory.ts';
import { syntheticGuard } from '../helpers/guards/shared-guard.ts';

interface Scan {
  readonly summary: Summary;
  readonly lines: readonly OutcomeLine[];
  /** Comments that the guard was asked for. */
  readonly judged: number;
  /** How many outcomes are by each model. */
  readonly models: ReadonlyMap<string | null, number>;
}

/** A fleet that scans a folder again and again. */
async function scannedFolder() {
  let judged = 0;
  const guard = await syntheticGuard({
    observe: ({ requests }) => {
      const texts = requests.flatMap(({ strings }) => (strings.get('TEXT') ?? []).map(String));
      judged += texts.filter((text) => text.includes(', number ')).length;
    },
  });
  const folder = await temporaryFolder();
  const [corpus, out] = [join(folder, 'uploads'), join(folder, 'runs')];
  await mkdir(corpus);
  await mkdir(out);
  // No worker is killed here: one that is slow keeps what it has, so that nothing is judged twice.
  const fleet = new Fleet({ redis: await redisForTest(), out, guards: [guard.address], lock: '60s' });
  fleet.worker();
  fleet.sink();
  const scanned = async (done: Finished): Promise<Scan> => {
    expectStatus(done, 0);
    const summary = JSON.parse(done.stdout) as Summary;
    expect(await verifyRun(summary.dir, {})).toMatchObject({ ok: true });
    const lines = await outcomes(summary.dir);
    const models = new Map<string | null, number>();
    for (const { fingerprint } of lines) models.set(fingerprint, (models.get(fingerprint) ?? 0) + 1);
    return { summary, lines, judged, models };
  };
  const scan = async (flags: readonly string[] = []): Promise<Scan> => {
    judged = 0;
    return scanned(await fleet.enqueue(corpus, ['--json', '--no-report', ...flags]).finished());
  };
  /** The same in one process. */
  const alone = async (): Promise<Scan> => {
    judged = 0;
    return scanned(await guardsweep(['enqueue', corpus, '--out', out, '--guard', guard.address, '--json']));
  };
  return { guard, folder, corpus, scan, alone };
}

it('a fleet judges what is new, and a run of nothing new never reaches a worker', async () => {
  const { folder, corpus, scan, alone } = await scannedFolder();
  await writeComments(corpus, 'a.csv', 2000);
  const first = await scan();
  expect(first).toMatchObject({ summary: { verdicts: 2000, reused: 0 }, judged: 2000 });
  const second = await scan();
  expect(second).toMatchObject({ summary: { verdicts: 2000, reused: 2000 }, judged: 0 });
  expect(new Set(second.lines.map((line) => line.reused_from))).toEqual(new Set([first.summary.run]));

  // What a fleet has judged, a process alone does not judge again, and the other way round.
  await writeComments(corpus, 'c.csv', 10, 6001);
  const single = await alone();
  expect(single).toMatchObject({ summary: { verdicts: 2010, reused: 2000 }, judged: 10 });
  const fourth = await scan();
  expect(fourth).toMatchObject({ summary: { verdicts: 2010, reused: 2010 }, judged: 0 });
  expect(comparable(fourth.lines)).toEqual(comparable(single.lines));

  // Asked to, outcomes hold a piece of what is to review, reused or judged by a worker.
  await writeFiles(folder, { 'policy.yaml': 'thresholds: { default: { review: 0.3 } }\n' });
  await writeComments(corpus, 'd.csv', 30, 7001);
  const { lines: held } = await scan(['--include-content', '--policy', join(folder, 'policy.yaml')]);
  expect(held.some(({ reused_from, snippet }) => reused_from === null && snippet !== null)).toBe(true);
  const reviewing = { ...DEFAULT_POLICY, thresholds: { default: { review: 0.3 } } };
  for (const line of held) {
    const isHeld = line.decision !== 'allow' && findRestriction(reviewing, line) === null;
    expect([line.seq, line.snippet?.includes(', number ') ?? false]).toEqual([line.seq, isHeld]);
  }
});

it('what is reused is of the model that would judge now, whenever that of an idle fleet was replaced', async () => {
  const { guard, corpus, scan } = await scannedFolder();
  await writeComments(corpus, 'a.csv', 3000);
  expect((await scan()).summary).toMatchObject({ verdicts: 3000, reused: 0, reused_from: [] });
  for (let upgrade = 0; upgrade < 2; upgrade++) {
    const { id } = guard.synthetic!.swapVersion();
    const upgraded = await scan();
    expect([upgraded.summary.reused, [...upgraded.models]]).toEqual([0, [[id, 3000]]]);
    const again = await scan();
    expect(again.summary).toMatchObject({
      reused: 3000,
      reused_from: [{ run: upgraded.summary.run, fingerprint: id, verdicts: 3000 }],
    });
    expect([...again.models]).toEqual([[id, 3000]]);
  }
});
