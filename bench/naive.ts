import { rm, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../src/domain/failure.ts';
import { mixedCorpus } from './corpus/make-corpus.ts';
import type { Bench, BenchContext } from './harness/bench.ts';
import { figure, ratios } from './harness/figures.ts';
import { interleave } from './harness/interleave.ts';
import { withGuard, type GuardProcess } from './processes/guard-process.ts';
import { ZERO_TIME_GUARD } from './processes/guards.ts';
import { runScript, type Ended } from './processes/measured-process.ts';
import { withRedis } from './processes/redis-process.ts';
import { sweepEmbedded, sweepFleet, type Corpus } from './processes/sweep.ts';

/** Enough that the startup of a run, which `start` measures, does not matter. */
const ROWS = 200_000;
const ROUNDS = 2;
const MIN_RATIO = 8;
const QUEUE = 'naive';

interface NaiveRun {
  /** Time until both halves have finished. */
  readonly seconds: number;
  readonly produce: Ended;
  readonly work: Ended;
}

/** Measures how much faster we are than the obvious script. */
export const naive: Bench = {
  name: 'naive',
  measures:
    'items/s from start to end ÷ those of a script with one job, one call and one append for each row',
  async run(context) {
    const corpus = await mixedCorpus(ROWS, context);
    return withGuard(ZERO_TIME_GUARD, context, async (guard) => {
      const rounds = await interleave(context, ROUNDS, {
        embedded: () => sweepEmbedded(corpus, [guard], context),
        script: () => runNaive(corpus, guard, context),
        redis: () => sweepFleet(corpus, [guard], context),
      });
      const seconds = (all: readonly { readonly seconds: number }[]): number[] =>
        all.map((one) => one.seconds);
      const script = seconds(rounds.script);
      return {
        figures: [
          figure('one process', '', ratios(script, seconds(rounds.embedded)), { atLeast: MIN_RATIO }),
          figure('over Redis', '', ratios(script, seconds(rounds.redis)), { atLeast: MIN_RATIO }),
          figure(
            'the script',
            'items/s',
            script.map((one) => corpus.rows / one),
          ),
        ],
        raw: { rows: corpus.rows, guard: ZERO_TIME_GUARD, rounds },
      };
    });
  },
};

/** Runs both halves of the script, started together. */
async function runNaive(corpus: Corpus, guard: GuardProcess, context: BenchContext): Promise<NaiveRun> {
  const out = join(context.folder, 'naive.jsonl');
  await rm(out, { force: true });
  return withRedis(context, async ({ socket }) => {
    const startedAt = performance.now();
    const [produce, work] = await Promise.all([
      runScript('reference/naive-produce', [corpus.path, socket, QUEUE], context),
      runScript('reference/naive-work', [socket, QUEUE, guard.address, out, String(corpus.rows)], context),
    ]);
    const seconds = (performance.now() - startedAt) / 1000;
    const lines = (await readFile(out, 'utf8')).split('\n').length - 1;
    if (lines < corpus.rows)
      throw new Failure('internal', `the script wrote ${lines} of ${corpus.rows} lines`);
    return { seconds, produce, work };
  });
}
