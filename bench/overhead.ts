import { evenCorpus } from './corpus/make-corpus.ts';
import type { Bench } from './harness/bench.ts';
import { figure, ratios } from './harness/figures.ts';
import { interleave } from './harness/interleave.ts';
import { withGuard } from './processes/guard-process.ts';
import { ZERO_TIME_GUARD } from './processes/guards.ts';
import { runScript } from './processes/measured-process.ts';
import { cpuPerItem, sweepEmbedded, sweepFleet, type Sweep } from './processes/sweep.ts';

const ROWS = 400_000;
const ROUNDS = 3;
const MAX_OF_FLOOR = { embedded: 1.5, redis: 2.5 };

/** Measures our processor time per item, from the CSV file to the final files. */
export const overhead: Bench = {
  name: 'overhead',
  measures:
    'processor time of our processes for an item of 300 bytes, from start to end, and ÷ that of the floor',
  async run(context) {
    const corpus = await evenCorpus(ROWS, context);
    return withGuard(ZERO_TIME_GUARD, context, async (guard) => {
      const floorArgs = [corpus.path, guard.address];
      const rounds = await interleave(context, ROUNDS, {
        embedded: () => sweepEmbedded(corpus, [guard], context),
        floor: () => runScript('reference/floor', floorArgs, context),
        redis: () => sweepFleet(corpus, [guard], context),
      });
      const ofRuns = (sweeps: readonly Sweep[]): number[] => sweeps.map((sweep) => cpuPerItem(sweep, corpus));
      const embedded = ofRuns(rounds.embedded);
      const redis = ofRuns(rounds.redis);
      const floor = rounds.floor.map(({ usage }) => usage.cpuUs / corpus.rows);
      return {
        figures: [
          figure('one process', 'µs', embedded),
          figure('one process ÷ floor', '', ratios(embedded, floor), { atMost: MAX_OF_FLOOR.embedded }),
          figure('over Redis', 'µs', redis),
          figure('over Redis ÷ floor', '', ratios(redis, floor), { atMost: MAX_OF_FLOOR.redis }),
          figure('floor', 'µs', floor),
        ],
        raw: { rows: corpus.rows, guard: ZERO_TIME_GUARD, rounds },
      };
    });
  },
};
