import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../../src/domain/failure.ts';
import type { Bench } from './bench.ts';
import type { Figure } from './figures.ts';
import type { BenchOptions } from './options.ts';
import type { Results } from './results-file.ts';

/** Lower bound of scaled rows. */
const MIN_ROWS = 64;

/** Lower bound of scaled durations. */
const MIN_SECONDS = 1;

type Report = Results['benches'][number];

/**
 * Runs one bench in a temporary folder. A Failure goes into its report, along with the figures kept so far; any other
 * error rejects, as does the signal's reason. `write` is called with the report whenever figures are kept.
 */
export async function runBench(
  bench: Bench,
  { seed, scale, rounds }: BenchOptions,
  signal: AbortSignal,
  say: (line: string) => void,
  write: (report: Report) => Promise<void>,
): Promise<Report> {
  const folder = await mkdtemp(join(tmpdir(), 'gs-bench-'));
  const startedAt = performance.now();
  const secondsSoFar = (): number => Math.round((performance.now() - startedAt) / 100) / 10;
  say(`${bench.name}: ${bench.measures}`);
  const kept: Figure[] = [];
  const keptRaw: object[] = [];
  const report = (figures: readonly Figure[], raw: object | null, failure: string | null): Report => ({
    bench: bench.name,
    figures: [...kept, ...figures],
    failure,
    seconds: secondsSoFar(),
    raw: keptRaw.length === 0 ? raw : (Object.assign({}, ...keptRaw, raw) as object),
  });
  try {
    const { figures, raw } = await bench.run({
      seed,
      folder,
      signal,
      rows: (full) => Math.max(MIN_ROWS, Math.round(full * scale)),
      seconds: (full) => Math.max(MIN_SECONDS, full * scale),
      rounds: (usual) => rounds ?? usual,
      keep: (figures, raw) => {
        kept.push(...figures);
        keptRaw.push(raw);
        return write(report([], null, 'it did not finish'));
      },
      say: (line) => say(`${bench.name}: ${line}`),
    });
    return report(figures, raw, null);
  } catch (error) {
    if (signal.aborted || !(error instanceof Failure)) throw error;
    return report([], null, error.message);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
