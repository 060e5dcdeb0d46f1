import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../src/domain/failure.ts';
import type { Summary } from '../src/record/summary/summary.ts';
import { evenCorpus } from './corpus/make-corpus.ts';
import type { Bench, BenchContext } from './harness/bench.ts';
import { figure } from './harness/figures.ts';
import { withGuards } from './processes/guard-process.ts';
import { ZERO_TIME_GUARD } from './processes/guards.ts';
import { MeasuredProcess, runScript } from './processes/measured-process.ts';
import type { ReviewTimes } from './processes/review-list.ts';
import type { PageTimes } from './processes/review-pages.ts';
import type { Corpus } from './processes/sweep.ts';

const ROWS = 1_000_000;
const ROUNDS = 3;

/** Measures the waits of an analyst in the dashboard's review list of a large run. */
export const review: Bench = {
  name: 'review',
  measures:
    'time to the first rows of the review list, cold and warm, to a filtered page, and of a threshold slider; also in Chromium',
  async run(context) {
    const corpus = await evenCorpus(ROWS, context);
    const dir = await withGuards([ZERO_TIME_GUARD], context, ([guard]) =>
      sweep(corpus, guard!.address, context),
    );
    const rounds: { times: ReviewTimes; pages: PageTimes; maxRssKib: number }[] = [];
    for (let round = 0; round < context.rounds(ROUNDS); round++) {
      context.say(`review list ${round + 1}`);
      const { stdout, usage } = await runScript('processes/review-list', [dir, context.folder], context);
      const shown = await runScript('processes/review-pages', [dir], context);
      rounds.push({
        times: JSON.parse(stdout) as ReviewTimes,
        pages: JSON.parse(shown.stdout) as PageTimes,
        maxRssKib: usage.maxRssKib,
      });
    }
    const of = (key: keyof ReviewTimes): number[] => rounds.map(({ times }) => times[key]);
    const ofPages = (key: keyof PageTimes): number[] => rounds.map(({ pages }) => pages[key]);
    return {
      figures: [
        figure('first rows, cold', 'ms', of('cold')),
        figure('first rows, warm', 'ms', of('warm')),
        figure('filtered page', 'ms', of('filtered')),
        figure('page of a search', 'ms', of('search')),
        figure('last page', 'ms', of('last')),
        figure('facets', 'ms', of('facets')),
        figure('threshold slider', 'ms', of('thresholds'), { atMost: 100 }),
        figure('longest wait of the event loop', 'ms', of('blocked')),
        figure('Chromium: first rows, cold', 'ms', ofPages('cold')),
        figure('Chromium: first rows, warm', 'ms', ofPages('warm')),
        figure('Chromium: filtered page', 'ms', ofPages('filtered')),
        figure('Chromium: threshold slider', 'ms', ofPages('slider')),
        figure('size of the index', 'MB', of('indexMb')),
        figure(
          'highest resident memory',
          'MiB',
          rounds.map(({ maxRssKib }) => maxRssKib / 1024),
        ),
      ],
      raw: { rows: corpus.rows, rounds },
    };
  },
};

/** Runs over the corpus and returns the run directory. Failure('internal') unless every item has a verdict. */
async function sweep(corpus: Corpus, guard: string, context: BenchContext): Promise<string> {
  const out = await mkdtemp(join(context.folder, 'runs-'));
  const args = [corpus.path, '--guard', guard, '--no-reuse', '--out', out];
  const flags = ['--canaries', 'off', '--json', '--quiet'];
  const ended = await MeasuredProcess.command(['enqueue', ...args, ...flags], context).ended();
  const { status, verdicts } = JSON.parse(ended.stdout) as Summary;
  await rm(corpus.path);
  const [run] = (await readdir(out)).filter((name) => !name.startsWith('.'));
  if (status === 'finished' && verdicts === corpus.rows) return join(out, run!);
  throw new Failure('internal', `a run over ${corpus.rows} rows ended ${status} with ${verdicts} verdicts`);
}
