import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../src/domain/failure.ts';
import type { Summary } from '../src/record/summary/summary.ts';
import { evenCorpus } from './corpus/make-corpus.ts';
import type { Bench, BenchContext } from './harness/bench.ts';
import { figure, ratios } from './harness/figures.ts';
import { interleave } from './harness/interleave.ts';
import { withGuards } from './processes/guard-process.ts';
import { REFERENCE_GUARD, ZERO_TIME_GUARD } from './processes/guards.ts';
import { MeasuredProcess, runScript, type Ended } from './processes/measured-process.ts';
import type { Corpus } from './processes/sweep.ts';

const ROWS = 1_000_000;
const ROUNDS = 2;
const MAX_RATIO = 3;

/** Measures a run over a corpus in which nothing has changed since the last run. */
export const rescan: Bench = {
  name: 'rescan',
  measures: 'time of a run in which nothing has changed ÷ that of csv-parse alone over the same file',
  async run(context) {
    const corpus = await evenCorpus(ROWS, context);
    const store = join(context.folder, 'store');
    return withGuards([ZERO_TIME_GUARD, REFERENCE_GUARD], context, async ([first, asked]) => {
      context.say('the first run');
      await sweep(corpus, first!.address, store, context);
      const rounds = await interleave(context, ROUNDS, {
        rescan: () => sweep(corpus, asked!.address, store, context),
        parse: () => runScript('reference/csv-parse', [corpus.path], context),
      });
      const executions = await asked!.executions(context.signal);
      const judged = executions.reduce((sum, { items }) => sum + items, 0);
      const seconds = (all: readonly Ended[]): number[] => all.map((one) => one.seconds);
      const [ours, parse] = [seconds(rounds.rescan), seconds(rounds.parse)];
      const perItem = rounds.rescan.map(({ usage }) => usage.cpuUs / corpus.rows);
      return {
        figures: [
          figure('run ÷ csv-parse', '', ratios(ours, parse), { atMost: MAX_RATIO }),
          figure('items sent to the guard', '', [judged], { atMost: 0 }),
          figure('run', 's', ours),
          figure('csv-parse', 's', parse),
          figure('processor time per item', 'µs', perItem),
        ],
        raw: { rows: corpus.rows, rounds, executions: executions.length },
      };
    });
  },
};

/** Runs without canaries, which are not part of the corpus. Failure('internal') unless every item has a verdict. */
async function sweep(corpus: Corpus, guard: string, store: string, context: BenchContext): Promise<Ended> {
  const out = await mkdtemp(join(context.folder, 'runs-'));
  const args = [corpus.path, '--guard', guard, '--store', store, '--out', out];
  try {
    const flags = ['--canaries', 'off', '--json', '--quiet'];
    const ended = await MeasuredProcess.command(['enqueue', ...args, ...flags], context).ended();
    const { status, verdicts } = JSON.parse(ended.stdout) as Summary;
    if (status === 'finished' && verdicts === corpus.rows) return ended;
    throw new Failure('internal', `a run over ${corpus.rows} rows ended ${status} with ${verdicts} verdicts`);
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}
