import { Failure } from '../src/domain/failure.ts';
import { evenCorpus } from './corpus/make-corpus.ts';
import type { Bench, BenchContext, BenchResult } from './harness/bench.ts';
import { figure } from './harness/figures.ts';
import { interleave } from './harness/interleave.ts';
import { withGuard } from './processes/guard-process.ts';
import { ZERO_TIME_GUARD } from './processes/guards.ts';
import { sweepEmbedded, type Corpus, type Sweep } from './processes/sweep.ts';

const SIZES = [10_000, 100_000, 1_000_000];
const MAX_ROWS = 10_000_000;
const ROUNDS = 3;
/** Slowest ÷ fastest: flat within 15 %. */
const MAX_RATIO = 1.15;

/** Measures whether the time per item grows with the number of items. */
export const growth: Bench = {
  name: 'growth',
  measures:
    'time for an item, beyond what a run of few takes, at 10,000, 100,000 and 1,000,000 rows: slowest ÷ fastest',
  run: (context) => measureGrowth(SIZES, ROUNDS, context),
};

/** Like `growth`, with one more size. */
export const growthFull: Bench = {
  name: 'growth-full',
  measures: 'as growth, and at 10,000,000 rows',
  onlyWhenAsked: true,
  run: (context) => measureGrowth([...SIZES, MAX_ROWS], 1, context),
};

async function measureGrowth(
  sizes: readonly number[],
  rounds: number,
  context: BenchContext,
): Promise<BenchResult> {
  const corpora: Corpus[] = [];
  // The fixed cost of a run, subtracted from the time of the items.
  const least = await evenCorpus(0, context);
  for (const size of sizes) corpora.push(await evenCorpus(size, context));
  return withGuard(ZERO_TIME_GUARD, context, async (guard) => {
    const all = [least, ...corpora];
    const tasks: Record<string, () => Promise<Sweep>> = Object.fromEntries(
      all.map((corpus) => [`${corpus.rows} rows`, () => sweepEmbedded(corpus, [guard], context)]),
    );
    const measured = await interleave(context, rounds, tasks);
    const seconds = ({ rows }: Corpus): number[] => measured[`${rows} rows`]!.map((sweep) => sweep.seconds);
    const few = seconds(least);
    const perItem = corpora.map((corpus) =>
      seconds(corpus).map((one, round) => ((one - few[round]!) * 1e6) / (corpus.rows - least.rows)),
    );
    if (perItem.some((values) => values.some((us) => us <= 0))) {
      throw new Failure('internal', 'too few rows to tell their time from the fixed cost of a run: use more');
    }
    const flatness = few.map((_, round) => {
      const ofRound = perItem.map((values) => values[round]!);
      return Math.max(...ofRound) / Math.min(...ofRound);
    });
    return {
      figures: [
        figure('slowest ÷ fastest', '', flatness, { atMost: MAX_RATIO }),
        ...corpora.map(({ rows }, index) => figure(`at ${rows} rows`, 'µs', perItem[index]!)),
      ],
      raw: { rows: { few: least.rows }, guard: ZERO_TIME_GUARD, rounds: measured },
    };
  });
}
