import { plainCorpus } from './corpus/make-corpus.ts';
import type { Bench } from './harness/bench.ts';
import { figure, isReached, ratios } from './harness/figures.ts';
import { interleave } from './harness/interleave.ts';
import { withGuard } from './processes/guard-process.ts';
import { ZERO_TIME_GUARD } from './processes/guards.ts';
import { runScript } from './processes/measured-process.ts';
import { cpuPerItem, sweepEmbedded } from './processes/sweep.ts';
import { Failure } from '../src/domain/failure.ts';

const ROWS = 60_000;
const ROUNDS = 3;

/**
 * Reference value of the CPU time of one process divided by the floor. On a machine with other load, single rounds were
 * 2.9 to 3.9, and their medians of three 3.2 and 3.3. So a median that is a fifth higher is not noise, and a change by
 * a quarter is detected: it must update this figure.
 */
const COMMITTED = 3.3;
const MOST = 1.2 * COMMITTED;

/** Detects changes that silently make an item more expensive: both sides are measured in one run on one machine. */
export const price: Bench = {
  name: 'price',
  measures: `processor time of one process ÷ that of the floor; fails above 1.2 × ${COMMITTED}`,
  onlyWhenAsked: true,
  async run(context) {
    const corpus = await plainCorpus(ROWS, context);
    return withGuard(ZERO_TIME_GUARD, context, async (guard) => {
      const rounds = await interleave(context, ROUNDS, {
        floor: () => runScript('reference/floor', [corpus.path, guard.address], context),
        embedded: () => sweepEmbedded(corpus, [guard], context),
      });
      const ours = rounds.embedded.map((sweep) => cpuPerItem(sweep, corpus));
      const floor = rounds.floor.map(({ usage }) => usage.cpuUs / corpus.rows);
      const measured = figure('one process ÷ floor', '', ratios(ours, floor), { atMost: MOST });
      if (!isReached(measured)) {
        const times = measured.measured.toFixed(1);
        throw new Failure(
          'internal',
          `an item takes ${times} × the floor: at most ${MOST.toFixed(1)} × was agreed on`,
        );
      }
      return { figures: [measured], raw: { rows: corpus.rows, rounds } };
    });
  },
};
