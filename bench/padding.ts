import { mixedCorpus } from './corpus/make-corpus.ts';
import type { Bench } from './harness/bench.ts';
import { figure, ratios } from './harness/figures.ts';
import { interleave } from './harness/interleave.ts';
import { steadyState, type SteadyState } from './harness/steady-state.ts';
import { withGuard } from './processes/guard-process.ts';
import type { GuardSettings } from './processes/guard-settings.ts';
import { REFERENCE_GUARD } from './processes/guards.ts';
import { runScript } from './processes/measured-process.ts';
import { sweepEmbedded } from './processes/sweep.ts';

const ROWS = 60_000;
const ROUNDS = 3;
const MIN_RATIO = 1.4;
const GUARD: GuardSettings = { ...REFERENCE_GUARD, time: 'padded' };

/**
 * Measures the savings of batches with texts of similar length for a guard that pads every text to the longest of its
 * batch.
 */
export const padding: Bench = {
  name: 'padding',
  measures: 'items/s where padding costs what content does ÷ items/s of batches in the order of arrival',
  async run(context) {
    const { signal } = context;
    const corpus = await mixedCorpus(ROWS, context);
    return withGuard(GUARD, context, async (guard) => {
      let inFlight = 0;
      const rounds = await interleave(context, ROUNDS, {
        ours: async () => {
          await sweepEmbedded(corpus, [guard], context);
          const steady = steadyState([await guard.executions(signal)]);
          inFlight = requestsInFlight(steady);
          return { steady, inFlight };
        },
        arrivalOrder: async () => {
          const args = [corpus.path, guard.address, String(inFlight)];
          await runScript('reference/arrival-order', args, context);
          return { steady: steadyState([await guard.executions(signal)]), inFlight };
        },
      });
      const speeds = (all: readonly { readonly steady: SteadyState }[]): number[] =>
        all.map(({ steady }) => steady.itemsPerSecond);
      const ours = ratios(speeds(rounds.ours), speeds(rounds.arrivalOrder));
      return {
        figures: [figure('÷ order of arrival', '', ours, { atLeast: MIN_RATIO })],
        raw: { rows: corpus.rows, guard: GUARD, rounds },
      };
    });
  },
};

/**
 * Full requests that the reference must keep in flight to give the guard's batcher the same choice as ours: one per
 * instance, plus as many rows as were queued.
 */
function requestsInFlight({ guards }: SteadyState): number {
  const { executions, items, waiting } = guards[0]!;
  const rowsOfRequest = executions === 0 ? 0 : items / executions;
  const waitingRows = waiting * Math.min(GUARD.maxBatchSize, rowsOfRequest);
  return GUARD.instances + Math.max(1, Math.round(waitingRows / GUARD.maxBatchSize));
}
