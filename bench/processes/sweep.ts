import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../src/domain/failure.ts';
import type { Summary } from '../../src/record/summary/summary.ts';
import type { BenchContext } from '../harness/bench.ts';
import { MeasuredProcess, type Ended } from './measured-process.ts';
import type { GuardProcess } from './guard-process.ts';
import { peakMemory, withRedis } from './redis-process.ts';
import type { Usage } from './usage.ts';

/** A corpus and its number of items. */
export interface Corpus {
  readonly path: string;
  readonly rows: number;
}

/** The cost of a run, from the start of `enqueue` to its end. */
export interface Sweep {
  readonly seconds: number;
  /** Usage per process: `enqueue`, or `feeder`, `worker` and `sink`. */
  readonly usage: Readonly<Record<string, Usage>>;
  /** Redis's peak memory, in bytes; null without Redis. */
  readonly redisPeakBytes: number | null;
}

type Guards = readonly Pick<GuardProcess, 'address'>[];

/**
 * Judges a corpus in one process, without Redis, with the given guards, by default the embedded one. Keeps no run
 * directory. Failure('internal') unless every item was judged.
 */
export async function sweepEmbedded(corpus: Corpus, guards: Guards, context: BenchContext): Promise<Sweep> {
  return withRunFolder(context, async (out) => {
    const named = guards.flatMap(({ address }) => ['--guard', address]);
    const enqueue = MeasuredProcess.command(['enqueue', corpus.path, ...named, ...ofRun(out)], context);
    const ended = await enqueue.ended();
    checkSummary(ended, corpus);
    return { seconds: ended.seconds, usage: { enqueue: ended.usage }, redisPeakBytes: null };
  });
}

/**
 * Judges a corpus with a feeder, one worker and one sink over a separate Redis. Worker and sink are ready when the time
 * starts. Failure('internal') unless every item was judged.
 */
export async function sweepFleet(corpus: Corpus, guards: Guards, context: BenchContext): Promise<Sweep> {
  return withRedis(context, (redis) =>
    withRunFolder(context, async (out) => {
      const env = { REDIS_URL: redis.url };
      const named = guards.flatMap(({ address }) => ['--guard', address]);
      const processes: MeasuredProcess[] = [];
      const start = (args: readonly string[]): MeasuredProcess => {
        const started = MeasuredProcess.command(args, context, env);
        processes.push(started);
        return started;
      };
      try {
        const worker = start(['worker', ...named]);
        const sink = start(['sink', '--root', out]);
        await Promise.all([worker.says(' takes '), sink.says(' commits ')]);
        const feeder = await start(['enqueue', corpus.path, ...ofRun(out)]).ended();
        checkSummary(feeder, corpus);
        const redisPeakBytes = await peakMemory(redis);
        const [workerEnded, sinkEnded] = await Promise.all([worker.stop(), sink.stop()]);
        return {
          seconds: feeder.seconds,
          usage: { feeder: feeder.usage, worker: workerEnded.usage, sink: sinkEnded.usage },
          redisPeakBytes,
        };
      } finally {
        await Promise.all(processes.map((started) => started.kill()));
      }
    }),
  );
}

/** Processor time of all our processes, in microseconds per item. */
export function cpuPerItem({ usage }: Sweep, { rows }: Corpus): number {
  return Object.values(usage).reduce((sum, { cpuUs }) => sum + cpuUs, 0) / rows;
}

/** Arguments of a run: every row is judged, as in the baselines. */
function ofRun(out: string): string[] {
  return ['--out', out, '--no-reuse', '--json', '--quiet'];
}

async function withRunFolder<T>({ folder }: BenchContext, use: (out: string) => Promise<T>): Promise<T> {
  const out = await mkdtemp(join(folder, 'runs-'));
  try {
    return await use(out);
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}

function checkSummary({ stdout }: Ended, { rows }: Corpus): void {
  const { status, items, verdicts } = JSON.parse(stdout) as Summary;
  if (status === 'finished' && items === rows && verdicts === rows) return;
  throw new Failure(
    'internal',
    `a run over ${rows} rows ended ${status}, with ${verdicts} of ${items} judged`,
  );
}
