import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startGuardServer } from '../../src/guard-server/server.ts';
import { DEFAULT_POLICY } from '../../src/domain/policy.ts';
import { findRestriction } from '../../src/domain/restriction/restriction.ts';
import type { Summary } from '../../src/record/summary/summary.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { writeComments } from '../helpers/corpus.ts';
import { expectStatus, Fleet } from '../helpers/fleet.ts';
import { redisForTest } from '../helpers/redis/redis.ts';
import { comparable, outcomes } from '../helpers/run-directory.ts';

const REVIEWING = { ...DEFAULT_POLICY, thresholds: { default: { review: 0.3 } } };

it(
  'a fleet judges what is new, and a run of nothing new never reaches a worker',
  { timeout: 240_000 },
  async () => {
    let judged = 0;
    const guard = await startGuardServer({
      model: 'synthetic',
      grpcPort: 0,
      synthetic: {
        serviceTime: 'zero',
        observe: ({ requests }) => {
          for (const { strings } of requests) {
            judged += strings.get('TEXT')?.filter((text) => text.includes(', number ')).length ?? 0;
          }
        },
      },
    });
    onTestFinished(() => guard.close());
    const folder = await temporaryFolder();
    const [corpus, out] = [join(folder, 'uploads'), join(folder, 'runs')];
    await mkdir(corpus);
    await mkdir(out);
    await writeComments(corpus, 'a.csv', 2000);
    const fleet = new Fleet({ redis: await redisForTest(), out, guards: [guard.address] });
    fleet.worker();
    fleet.sink();
    const scan = async (): Promise<{ summary: Summary; judged: number }> => {
      judged = 0;
      const done = await fleet.enqueue(corpus, ['--json']).finished();
      expectStatus(done, 0);
      return { summary: JSON.parse(done.stdout) as Summary, judged };
    };

    const first = await scan();
    expect(first).toMatchObject({ summary: { verdicts: 2000, reused: 0 }, judged: 2000 });
    const second = await scan();
    expect(second).toMatchObject({ summary: { verdicts: 2000, reused: 2000 }, judged: 0 });
    const lines = await outcomes(second.summary.dir);
    expect(new Set(lines.map((line) => line.reused_from))).toEqual(new Set([first.summary.run]));
    expect(await verifyRun(second.summary.dir, {})).toMatchObject({ ok: true });

    await writeComments(corpus, 'b.csv', 10, 5001);
    expect(await scan()).toMatchObject({ summary: { verdicts: 2010, reused: 2000 }, judged: 10 });

    // What a fleet has judged, a process alone does not judge again, and the other way round.
    await writeComments(corpus, 'c.csv', 10, 6001);
    judged = 0;
    const alone = await guardsweep(['enqueue', corpus, '--out', out, '--guard', guard.address, '--json']);
    expectStatus(alone, 0);
    const { dir } = JSON.parse(alone.stdout) as Summary;
    expect(judged).toBe(10);
    const fourth = await scan();
    expect(fourth).toMatchObject({ summary: { verdicts: 2020, reused: 2020 }, judged: 0 });
    // Asked to, outcomes hold a piece of what is to review, reused or judged by a worker.
    const policy = join(folder, 'policy.yaml');
    await writeFile(policy, 'thresholds: { default: { review: 0.3 } }\n');
    await writeComments(corpus, 'd.csv', 30, 7001);
    const content = fleet.enqueue(corpus, ['--json', '--include-content', '--policy', policy]);
    const done = await content.finished();
    expectStatus(done, 0);
    const held = await outcomes((JSON.parse(done.stdout) as Summary).dir);
    expect(held.filter((line) => line.reused_from === null).some(({ snippet }) => snippet !== null)).toBe(
      true,
    );
    for (const line of held) {
      const isHeld = line.decision !== 'allow' && findRestriction(REVIEWING, line) === null;
      expect([line.seq, line.snippet?.includes(', number ') ?? false]).toEqual([line.seq, isHeld]);
    }

    expect(comparable(await outcomes(fourth.summary.dir))).toEqual(comparable(await outcomes(dir)));
  },
);

it(
  'what is reused is of the model that would judge now, whenever the model of an idle fleet was replaced',
  { timeout: 240_000 },
  async () => {
    const guard = await startGuardServer({
      model: 'synthetic',
      grpcPort: 0,
      synthetic: { serviceTime: 'zero' },
    });
    onTestFinished(() => guard.close());
    const folder = await temporaryFolder();
    const [corpus, out] = [join(folder, 'uploads'), join(folder, 'runs')];
    await mkdir(corpus);
    await mkdir(out);
    await writeComments(corpus, 'a.csv', 3000);
    const fleet = new Fleet({ redis: await redisForTest(), out, guards: [guard.address] });
    fleet.worker();
    fleet.sink();
    const scan = async (): Promise<{ summary: Summary; models: Set<string | null> }> => {
      const done = await fleet.enqueue(corpus, ['--json']).finished();
      expectStatus(done, 0);
      const summary = JSON.parse(done.stdout) as Summary;
      expect(await verifyRun(summary.dir, {})).toMatchObject({ ok: true });
      return { summary, models: new Set((await outcomes(summary.dir)).map((line) => line.fingerprint)) };
    };
    const first = await scan();
    expect(first.summary).toMatchObject({ verdicts: 3000, reused: 0, reused_from: [] });
    for (let upgrade = 0; upgrade < 3; upgrade++) {
      const { id } = guard.synthetic!.swapVersion();
      const upgraded = await scan();
      expect(upgraded.summary).toMatchObject({ verdicts: 3000, reused: 0 });
      expect(upgraded.models).toEqual(new Set([id]));
      const again = await scan();
      expect(again.summary).toMatchObject({ verdicts: 3000, reused: 3000 });
      expect(again.summary.reused_from).toEqual([
        { run: upgraded.summary.run, fingerprint: id, verdicts: 3000 },
      ]);
      expect(again.models).toEqual(new Set([id]));
    }
  },
);

it(
  'a model that is replaced in the middle of a run that reuses verdicts: none of the old one is reused afterwards',
  { timeout: 240_000 },
  async () => {
    let onNew: (() => void) | null = null;
    const guard = await startGuardServer({
      model: 'synthetic',
      grpcPort: 0,
      synthetic: {
        serviceTime: 'zero',
        observe: ({ requests }) => {
          const isNew = requests.some(({ strings }) =>
            strings.get('TEXT')?.some((text) => text.includes('new words')),
          );
          if (isNew) onNew?.();
        },
      },
    });
    onTestFinished(() => guard.close());
    const folder = await temporaryFolder();
    const [corpus, out] = [join(folder, 'uploads'), join(folder, 'runs')];
    await mkdir(corpus);
    await mkdir(out);
    await writeComments(corpus, 'b-known.csv', 20_000);
    const fleet = new Fleet({ redis: await redisForTest(), out, guards: [guard.address] });
    fleet.worker();
    fleet.sink();
    const scan = async (): Promise<{ summary: Summary; models: Map<string | null, number> }> => {
      const done = await fleet.enqueue(corpus, ['--json']).finished();
      expectStatus(done, 0);
      const summary = JSON.parse(done.stdout) as Summary;
      expect(await verifyRun(summary.dir, {})).toMatchObject({ ok: true });
      const models = new Map<string | null, number>();
      for (const { fingerprint } of await outcomes(summary.dir))
        models.set(fingerprint, (models.get(fingerprint) ?? 0) + 1);
      return { summary, models };
    };
    const first = await scan();
    const [before] = first.models.keys();
    await writeFile(join(corpus, 'a-new.csv'), 'text\nnew words in the first file\n');
    let after = '';
    onNew = () => {
      onNew = null;
      after = guard.synthetic!.swapVersion().id;
    };
    const second = await scan();
    expect(after).not.toBe('');
    // What was settled before the change was noticed keeps its model; the rest was judged by the new one.
    for (const model of second.models.keys()) expect([before, after]).toContain(model);
    expect(second.summary.reused).toBeLessThanOrEqual(second.models.get(before!) ?? 0);
    const third = await scan();
    expect([...third.models]).toEqual([[after, 20_001]]);
    expect(third.summary.reused).toBe(second.models.get(after) ?? 0);
  },
);
