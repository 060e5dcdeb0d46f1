/**
 * Opens the review list of the run directory in `process.argv[2]`, with its index in the folder in `process.argv[3]`,
 * and prints ReviewTimes as JSON.
 */
import { mkdtemp, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { ITEM_FILTER, ITEM_QUERY, THRESHOLD_QUERY } from '../../src/dashboard/api/items.ts';
import { RunIndexes } from '../../src/dashboard/index/run-indexes.ts';
import { standardOutput } from '../../src/terminal/standard-streams.ts';
import { median } from '../harness/figures.ts';

/** In milliseconds; `cold` includes building the index, the others are medians. */
export interface ReviewTimes {
  readonly cold: number;
  readonly warm: number;
  readonly filtered: number;
  readonly search: number;
  readonly last: number;
  readonly facets: number;
  readonly thresholds: number;
  readonly blocked: number;
  readonly indexMb: number;
}

const REPEATS = 15;

const [, , dir, folder] = process.argv as [string, string, string, string];
process.env['TMPDIR'] = await mkdtemp(join(folder, 'index-'));
const { signal } = new AbortController();

async function timed(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let repeat = 0; repeat < REPEATS; repeat++) {
    const begun = performance.now();
    await work();
    times.push(performance.now() - begun);
  }
  return median(times);
}

async function bytesIn(path: string): Promise<number> {
  const names = await readdir(path, { recursive: true });
  const sizes = await Promise.all(names.map(async (name) => stat(join(path, name))));
  return sizes.reduce((sum, each) => sum + (each.isFile() ? each.size : 0), 0);
}

const loop = monitorEventLoopDelay({ resolution: 1 });
loop.enable();
const begun = performance.now();
const indexes = new RunIndexes();
const index = await indexes.use(dir, signal, async (opened) => opened);
const first = await index.page(ITEM_QUERY.parse({}), signal);
const cold = performance.now() - begun;
loop.disable();

const filter = { decisions: ['review', 'block'], minScore: 0.3, maxScore: 0.9 };
const page = (query: object) => () => index.page(ITEM_QUERY.parse(query), signal);
let step = 0;
const times: ReviewTimes = {
  cold,
  warm: await timed(page({})),
  filtered: await timed(page({ filter, sort: 'uncertainty' })),
  search: await timed(page({ filter: { search: '#1234' } })),
  last: await timed(page({ offset: Math.max(0, first.total - 100) })),
  facets: await timed(() => index.facets(ITEM_FILTER.parse(filter), signal)),
  thresholds: await timed(() => {
    // As set by the sliders.
    const threshold = (++step % 100) / 100;
    const thresholds = { default: { review: threshold, block: 0.95 }, hate: { review: 0.2, block: 0.8 } };
    return index.thresholds(THRESHOLD_QUERY.parse({ thresholds }), signal);
  }),
  blocked: loop.max / 1e6,
  indexMb: (await bytesIn(process.env['TMPDIR'])) / 1e6,
};
await indexes.close();
standardOutput().line(JSON.stringify(times));
