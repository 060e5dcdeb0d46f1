import { evenCorpus } from './corpus/make-corpus.ts';
import type { Bench } from './harness/bench.ts';
import { figure, ratios } from './harness/figures.ts';
import { interleave } from './harness/interleave.ts';
import { withGuard } from './processes/guard-process.ts';
import { ZERO_TIME_GUARD } from './processes/guards.ts';
import { sweepFleet, type Sweep } from './processes/sweep.ts';

const ROWS = { small: 200_000, large: 2_000_000 };
const ROUNDS = 1;
const MAX_MIB = 400;

const PARTS: readonly [name: string, mib: (sweep: Sweep) => number, mostMib: number | null][] = [
  ['Redis', ({ redisPeakBytes }) => redisPeakBytes! / 2 ** 20, null],
  ['feeder', ({ usage }) => usage['feeder']!.maxRssKib / 1024, MAX_MIB],
  ['worker', ({ usage }) => usage['worker']!.maxRssKib / 1024, MAX_MIB],
  ['sink', ({ usage }) => usage['sink']!.maxRssKib / 1024, MAX_MIB],
];

/** Measures whether the memory of a fleet's processes and of Redis depends on the size of the corpus. */
export const fleetMemory: Bench = {
  name: 'fleet-memory',
  measures:
    "Redis's peak of used memory, and the highest resident memory of each process, at 2,000,000 rows and ÷ 200,000",
  async run(context) {
    const small = await evenCorpus(ROWS.small, context);
    const large = await evenCorpus(ROWS.large, context);
    return withGuard(ZERO_TIME_GUARD, context, async (guard) => {
      const rounds = await interleave(context, ROUNDS, {
        small: () => sweepFleet(small, [guard], context),
        large: () => sweepFleet(large, [guard], context),
      });
      return {
        figures: PARTS.flatMap(([name, mib, mostMib]) => [
          figure(name, 'MiB', rounds.large.map(mib), mostMib === null ? null : { atMost: mostMib }),
          figure(`${name}, large ÷ small`, '', ratios(rounds.large.map(mib), rounds.small.map(mib))),
        ]),
        raw: { rows: { small: small.rows, large: large.rows }, guard: ZERO_TIME_GUARD, rounds },
      };
    });
  },
};
