import { plainCorpus } from './corpus/make-corpus.ts';
import type { Bench } from './harness/bench.ts';
import { figure } from './harness/figures.ts';
import { withGuard } from './processes/guard-process.ts';
import { ZERO_TIME_GUARD } from './processes/guards.ts';
import { runScript } from './processes/measured-process.ts';
import { cpuPerItem, sweepEmbedded } from './processes/sweep.ts';
import { Failure } from '../src/domain/failure.ts';

const ROWS = 60_000;
const TRIES = 3;

/** What one process took, ÷ the floor. A change that is worth more than this allows brings its own figure. */
const COMMITTED = 4.6;
const MOST = 1.5 * COMMITTED;

/** A guard against changes that make an item dearer unnoticed: both sides are measured in one run on one machine. */
export const price: Bench = {
  name: 'price',
  measures: `processor time of one process ÷ that of the floor; fails above 1.5 × ${COMMITTED} in ${TRIES} tries`,
  onlyWhenAsked: true,
  async run(context) {
    const corpus = await plainCorpus(ROWS, context);
    return withGuard(ZERO_TIME_GUARD, context, async (guard) => {
      const tries: number[] = [];
      for (let least = Infinity; least > MOST && tries.length < TRIES; least = Math.min(...tries)) {
        const floor = await runScript('reference/floor', [corpus.path, guard.address], context);
        const sweep = await sweepEmbedded(corpus, [guard], context);
        tries.push(cpuPerItem(sweep, corpus) / (floor.usage.cpuUs / corpus.rows));
      }
      const measured = figure('one process ÷ floor', '', tries, { atMost: MOST });
      if (measured.lowest > MOST) {
        const times = measured.lowest.toFixed(1);
        throw new Failure(
          'internal',
          `an item takes at least ${times} × the floor: at most ${MOST} × was agreed on`,
        );
      }
      return { figures: [measured], raw: { rows: corpus.rows, tries } };
    });
  },
};
