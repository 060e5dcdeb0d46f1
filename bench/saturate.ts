import { mixedCorpus } from './corpus/make-corpus.ts';
import type { Bench, BenchContext } from './harness/bench.ts';
import { figure } from './harness/figures.ts';
import { interleave } from './harness/interleave.ts';
import { capacityOf, steadyState, type SteadyState } from './harness/steady-state.ts';
import { withGuard, type GuardProcess } from './processes/guard-process.ts';
import { REFERENCE_GUARD } from './processes/guards.ts';
import { sweepEmbedded, sweepFleet, type Sweep } from './processes/sweep.ts';

const ROWS = 120_000;
const ROUNDS = 3;
const MIN_RATIO = 0.97;

interface Measured {
  readonly sweep: Sweep;
  readonly steady: SteadyState;
  /** Items per second. */
  readonly capacity: number;
  readonly share: number;
}

/** Measures whether the guard ever runs out of work. */
export const saturate: Bench = {
  name: 'saturate',
  measures: "items/s ÷ what the guard's instances can judge in full batches, in the steady part of a run",
  async run(context) {
    const corpus = await mixedCorpus(ROWS, context);
    return withGuard(REFERENCE_GUARD, context, async (guard) => {
      const rounds = await interleave(context, ROUNDS, {
        embedded: () => measured(guard, () => sweepEmbedded(corpus, [guard], context), context),
        redis: () => measured(guard, () => sweepFleet(corpus, [guard], context), context),
      });
      const shares = (all: readonly Measured[]): number[] => all.map(({ share }) => share);
      return {
        figures: [
          figure('one process', '', shares(rounds.embedded), { atLeast: MIN_RATIO }),
          figure('over Redis', '', shares(rounds.redis), { atLeast: MIN_RATIO }),
        ],
        raw: { rows: corpus.rows, guard: REFERENCE_GUARD, rounds },
      };
    });
  },
};

async function measured(
  guard: GuardProcess,
  sweep: () => Promise<Sweep>,
  { signal }: BenchContext,
): Promise<Measured> {
  await guard.executions(signal);
  const swept = await sweep();
  const steady = steadyState([await guard.executions(signal)]);
  const capacity = capacityOf(steady, [guard.settings]);
  return { sweep: swept, steady, capacity, share: steady.itemsPerSecond / capacity };
}
