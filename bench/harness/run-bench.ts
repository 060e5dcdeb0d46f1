import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../../src/domain/failure.ts';
import type { Bench } from './bench.ts';
import type { Figure } from './figures.ts';
import type { BenchOptions } from './options.ts';
import type { Results } from './results-file.ts';

/** A bench is about many rows: no scale makes it one of fewer. */
const MIN_ROWS = 64;

type Report = Results['benches'][number];

/**
 * Runs one bench in a folder of its own, which is removed. A bench that fails says so in its report, beside what it had
 * measured; only what nobody expected rejects, and the signal's reason when that is aborted. `write` gets the report
 * so far whenever there is more of it.
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
      rounds: (usual) => rounds ?? usual,
      keep: (figures, raw) => {
        kept.push(...figures);
        keptRaw.push(raw);
        return write(report([], null, 'it did not come to its end'));
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
