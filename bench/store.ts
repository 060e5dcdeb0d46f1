import { hash } from 'node:crypto';
import { join } from 'node:path';
import { stat, readdir } from 'node:fs/promises';
import { CATEGORY_KEYS } from '../src/domain/taxonomy.ts';
import { Failure } from '../src/domain/failure.ts';
import { makeFingerprint } from '../src/domain/fingerprint.ts';
import type { Judgement } from '../src/domain/outcome.ts';
import { isStoreDataFolder, STORE_FILES } from '../src/files/store-files.ts';
import { VerdictStore } from '../src/store/verdict-store.ts';
import type { Bench, BenchContext } from './harness/bench.ts';
import { figure } from './harness/figures.ts';

const ROWS = 1_000_000;
const ROUNDS = 3;
/** Verdicts per shard, and shards that are committed concurrently, as in a run. */
const SHARD = 256;
const SHARDS = 16;
/** Every fifth verdict is flagged, and has scores for all categories. */
const FLAGGED_EVERY = 5;

const MODEL = makeFingerprint([['model', '1'.repeat(64)]])!;
const JUDGED_BY = { fingerprint: MODEL.id, judging: '{"frames":8}' };

/** Measures the verdict store with a million verdicts. */
export const store: Bench = {
  name: 'store',
  measures: 'verdicts stored and found per second, the size of the store, and the time to open it',
  async run(context) {
    const rows = context.rows(ROWS);
    const dir = join(context.folder, 'store');
    const filled = await open(dir, context);
    const writeSeconds = await timed(() => fill(filled, rows));
    const closeSeconds = await timed(() => filled.close());
    const size = await sizeOf(dir);
    const opening: number[] = [];
    const found: number[] = [];
    const missed: number[] = [];
    for (let round = 0; round < context.rounds(ROUNDS); round++) {
      context.say(`round ${round + 1}`);
      let opened!: VerdictStore;
      opening.push(1000 * (await timed(async () => void (opened = await open(dir, context)))));
      const contents = Array.from({ length: rows }, (_, row) => content(row));
      found.push(rows / (await timed(() => look(opened, contents, true))));
      const others = Array.from({ length: rows }, (_, row) => content(-row - 1));
      missed.push(rows / (await timed(() => look(opened, others, false))));
      await opened.close();
    }
    return {
      figures: [
        figure('verdicts found', '/s', found),
        figure('verdicts not found', '/s', missed),
        figure('verdicts stored', '/s', [rows / writeSeconds]),
        figure('bytes per verdict', 'B', [size / rows]),
        figure('opening', 'ms', opening),
        figure('closing after the writes', 's', [closeSeconds]),
      ],
      raw: { rows, size },
    };
  },
};

function content(row: number): string {
  return hash('sha256', String(row));
}

async function open(dir: string, context: BenchContext): Promise<VerdictStore> {
  const recorded = async function* () {
    // The store is never damaged.
  };
  const say = (line: string): void => context.say(line);
  const opened = await VerdictStore.open(dir, { key: null, recorded, say, signal: context.signal });
  if (opened === null) throw new Failure('internal', 'the store cannot be opened');
  return opened;
}

async function timed(work: () => Promise<void>): Promise<number> {
  const from = performance.now();
  await work();
  return (performance.now() - from) / 1000;
}

async function fill(filled: VerdictStore, rows: number): Promise<void> {
  const shard = async (from: number): Promise<void> => {
    const count = Math.min(SHARD, rows - from);
    const verdicts = Array.from({ length: count }, (_, index) => ({
      contentSha256: content(from + index),
      judgement: judgement(from + index),
    }));
    await filled.add({ run: 'run', judging: JUDGED_BY.judging, fingerprints: [MODEL], verdicts });
  };
  for (let from = 0; from < rows; from += SHARD * SHARDS) {
    const starts = Array.from({ length: SHARDS }, (_, index) => from + index * SHARD);
    await Promise.all(starts.filter((start) => start < rows).map(shard));
  }
}

async function look(opened: VerdictStore, contents: readonly string[], isThere: boolean): Promise<void> {
  for (const [at, each] of contents.entries()) {
    if ((opened.find(each, [JUDGED_BY]) !== null) !== isThere) {
      throw new Failure('internal', 'the store does not hold what was stored');
    }
    // As between the shards of a run.
    if (at % SHARD === 0) await new Promise(setImmediate);
  }
}

function judgement(row: number): Judgement {
  const flagged = row % FLAGGED_EVERY === 0;
  const score = Number(((row % 997) / 997).toPrecision(7));
  return {
    score,
    flagged,
    subcategoryScores: flagged ? Object.fromEntries(CATEGORY_KEYS.map((key) => [key, score])) : null,
    subcategoryFlags: flagged ? ['hate'] : null,
    fingerprint: MODEL.id,
    endpoint: 'grpc://guard:8001',
    latencyMs: (row % 5000) / 100,
    attempts: 1,
    cacheUsage: [0, 0, 0, 0, 0, 0, 0, 0],
    moderatedAt: '2026-01-01T00:00:00.000Z',
    coverage: { unit: 'chars', judged: 300, total: 300, worst_at: null },
    stream: null,
  };
}

async function sizeOf(dir: string): Promise<number> {
  const data = (await readdir(dir)).find(isStoreDataFolder);
  return (await stat(join(dir, data ?? '', STORE_FILES.data))).size;
}
