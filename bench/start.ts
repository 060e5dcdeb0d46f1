import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench } from './harness/bench.ts';
import { figure } from './harness/figures.ts';
import { interleave } from './harness/interleave.ts';
import { sweepEmbedded } from './processes/sweep.ts';

const ROUNDS = 7;
const MAX_SECONDS = 0.8;

/** Measures the time of a run over a single row. */
export const start: Bench = {
  name: 'start',
  measures: 'from the start of enqueue over one row, with the embedded guard, to its end',
  async run(context) {
    const path = join(context.folder, 'one.csv');
    await writeFile(path, 'id,text\nr-1,"A row like any other."\n');
    const { one } = await interleave(context, ROUNDS, {
      one: () => sweepEmbedded({ path, rows: 1 }, [], context),
    });
    const seconds = one.map((sweep) => sweep.seconds);
    return { figures: [figure('one row', 's', seconds, { atMost: MAX_SECONDS })], raw: { rounds: one } };
  },
};
