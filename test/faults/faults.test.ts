import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { OutcomeLine } from '../../src/domain/outcome.ts';
import { verifyRun } from '../../src/record/verify/verify.ts';
import { Cli, guardsweep, temporaryFolder } from '../helpers/cli.ts';
import { expectStatus } from '../helpers/fleet.ts';
import { linkForTest } from '../helpers/redis/redis.ts';
import { comparable, onlyRun, outcomes, until } from '../helpers/run-directory.ts';
import { settled } from '../helpers/settled.ts';
import { DEADLY, ROWS, writeCorpus } from './corpus.ts';
import type { Judged } from './guard-process.ts';
import { differences, seeds } from './seeded.ts';
import { runInStorm, type Trial } from './trial.ts';

const CORPUS_SEED = 20_000;

/** By the clock of one machine; timers and files take their time. */
const CLOCK_SLACK_MS = 20;

it.each(seeds())('a run survives the storm of FAULTS_SEED=%i', async (seed) => {
  console.log(`storm of FAULTS_SEED=${seed}`);
  const corpus = join(await temporaryFolder(), 'comments.csv');
  await writeCorpus(corpus, CORPUS_SEED);
  const trial = await runInStorm(corpus, seed);
  try {
    const expected = await undisturbed(corpus);
    expect(trial.status).toBe(5);
    expect(trial.lines.map(({ seq }) => seq)).toEqual([...Array(ROWS).keys()]);
    const failed = trial.lines.filter(({ status }) => status !== 'ok');
    expect(failed.map(({ seq, error }) => [seq, error?.code])).toEqual(
      [...DEADLY].map((seq) => [seq, 'INTERNAL']),
    );
    expect(differences(same(trial.lines), same(expected))).toEqual([]);
    expect(untrueFingerprints(trial)).toEqual([]);
    const report = await verifyRun(trial.dir, {});
    const errors = DEADLY.size;
    expect(report).toMatchObject({ ok: true, items: ROWS, verdicts: ROWS - errors, errors });
    const link = await linkForTest(trial.redis);
    const name = trial.dir.split('/').at(-1)!;
    await settled(async () => (await link.redis.keys('*')).every((key) => !key.includes(name)));
  } catch (error) {
    throw new Error(`seed ${seed}: see ${await trial.keepEvidence()}`, { cause: error });
  } finally {
    trial.end();
  }
});

let judgedOnce: Promise<readonly OutcomeLine[]> | null = null;

/** The outcomes of the same corpus in one process, with nothing in its way. */
const undisturbed = (corpus: string): Promise<readonly OutcomeLine[]> =>
  (judgedOnce ??= judgeUndisturbed(corpus));

async function judgeUndisturbed(corpus: string): Promise<readonly OutcomeLine[]> {
  const out = await temporaryFolder();
  const guard = new Cli('guard --model synthetic --grpc-port 0 --http-port 0 --metrics-port 0'.split(' '));
  const address = await until(async () => /grpc:\S+/.exec(guard.stdout)?.[0], 'the guard');
  expectStatus(await guardsweep(['enqueue', corpus, '--out', out, '--quiet', '--guard', address]), 0);
  return outcomes(await onlyRun(out));
}

/** What is the same in every run, whichever version judged: the lines of all items but the deadly ones. */
const same = (lines: readonly OutcomeLine[]): object[] =>
  comparable(lines.filter(({ seq }) => !DEADLY.has(seq))).map((line) => ({ ...line, fingerprint: null }));

/** The first verdicts whose fingerprint was not in force when their guard judged them, by the guard's own record. */
function untrueFingerprints({ lines, judged }: Trial): unknown[] {
  const isTrue = (line: OutcomeLine): boolean => {
    const records = judged.get(line.endpoint ?? '')?.get(line.content_sha256 ?? '') ?? [];
    const repliedAt = Date.parse(line.moderated_at);
    const sentAt = repliedAt - (line.latency_ms ?? 0);
    return records.some(
      ({ fingerprint, at }: Judged) =>
        fingerprint === line.fingerprint && at >= sentAt - CLOCK_SLACK_MS && at <= repliedAt + CLOCK_SLACK_MS,
    );
  };
  return lines.filter((line) => line.status === 'ok' && !isTrue(line)).slice(0, 5);
}
