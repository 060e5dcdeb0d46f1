import { evenCorpus } from './corpus/make-corpus.ts';
import type { Bench } from './harness/bench.ts';
import { figure, ratios } from './harness/figures.ts';
import { interleave } from './harness/interleave.ts';
import { withGuard } from './processes/guard-process.ts';
import { ZERO_TIME_GUARD } from './processes/guards.ts';
import { sweepEmbedded, type Sweep } from './processes/sweep.ts';

const ROWS = { small: 500_000, large: 5_000_000 };
const ROUNDS = 3;
const MAX_GROWTH = 1.1;
const MAX_MIB = 400;

/** Measures whether memory depends on the size of the corpus. */
export const memory: Bench = {
  name: 'memory',
  measures: 'highest resident memory of one process at 5,000,000 rows ÷ that at 500,000',
  async run(context) {
    const small = await evenCorpus(ROWS.small, context);
    const large = await evenCorpus(ROWS.large, context);
    return withGuard(ZERO_TIME_GUARD, context, async (guard) => {
      const rounds = await interleave(context, ROUNDS, {
        small: () => sweepEmbedded(small, [guard], context),
        large: () => sweepEmbedded(large, [guard], context),
      });
      const [ofSmall, ofLarge] = [rounds.small, rounds.large].map((sweeps) => sweeps.map(highestMib));
      const [usualOfSmall, usualOfLarge] = [rounds.small, rounds.large].map((sweeps) => sweeps.map(usualMib));
      return {
        figures: [
          figure('large ÷ small', '', ratios(ofLarge!, ofSmall!), { atMost: MAX_GROWTH }),
          figure(`at ${large.rows} rows`, 'MiB', ofLarge!, { atMost: MAX_MIB }),
          figure(`at ${small.rows} rows`, 'MiB', ofSmall!, { atMost: MAX_MIB }),
          // The maximum of ten times as many samples is higher even without growth; the mean is not.
          figure('large ÷ small, on average', '', ratios(usualOfLarge!, usualOfSmall!)),
        ],
        raw: { rows: { small: small.rows, large: large.rows }, guard: ZERO_TIME_GUARD, rounds },
      };
    });
  },
};

function highestMib({ usage }: Sweep): number {
  return usage['enqueue']!.maxRssKib / 1024;
}

function usualMib({ usage }: Sweep): number {
  return usage['enqueue']!.meanRssKib / 1024;
}
