import { mixedCorpus } from './corpus/make-corpus.ts';
import type { Bench } from './harness/bench.ts';
import { figure } from './harness/figures.ts';
import { interleave } from './harness/interleave.ts';
import { capacityOf, steadyState } from './harness/steady-state.ts';
import { withGuards } from './processes/guard-process.ts';
import { REFERENCE_GUARD } from './processes/guards.ts';
import { sweepEmbedded } from './processes/sweep.ts';

const ROWS = 150_000;
const ROUNDS = 3;
const SLOWNESS = 4;
const MIN_RATIO = 0.95;

/** Measures whether each of two guards of different speeds is saturated. */
export const twoSpeeds: Bench = {
  name: 'two-speeds',
  measures: 'items/s through two guards, one of which takes 4 times as long ÷ the sum of what they can judge',
  async run(context) {
    const { signal } = context;
    const corpus = await mixedCorpus(ROWS, context);
    const settings = [REFERENCE_GUARD, { ...REFERENCE_GUARD, slowness: SLOWNESS }];
    return withGuards(settings, context, async (guards) => {
      const { both } = await interleave(context, ROUNDS, {
        both: async () => {
          const sweep = await sweepEmbedded(corpus, guards, context);
          const steady = steadyState(await Promise.all(guards.map((guard) => guard.executions(signal))));
          const capacity = capacityOf(steady, settings);
          return { sweep, steady, capacity, share: steady.itemsPerSecond / capacity };
        },
      });
      const shares = both.map(({ share }) => share);
      return {
        figures: [figure('both guards', '', shares, { atLeast: MIN_RATIO })],
        raw: { rows: corpus.rows, guards: settings, rounds: both },
      };
    });
  },
};
