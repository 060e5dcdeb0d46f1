import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../../src/domain/failure.ts';
import type { Bench } from './bench.ts';
import type { BenchOptions } from './options.ts';
import type { Results } from './results-file.ts';

/** A bench is about many rows: no scale makes it one of fewer. */
const FEWEST_ROWS = 64;

/**
 * Runs one bench in a folder of its own, which is removed. A bench that fails says so in its report; only what nobody
 * expected rejects, and the signal's reason when that is aborted.
 */
export async function runBench(
  bench: Bench,
  { seed, scale, rounds }: BenchOptions,
  signal: AbortSignal,
  say: (line: string) => void,
): Promise<Results['benches'][number]> {
  const folder = await mkdtemp(join(tmpdir(), 'gs-bench-'));
  const startedAt = performance.now();
  const secondsSoFar = (): number => Math.round((performance.now() - startedAt) / 100) / 10;
  say(`${bench.name}: ${bench.measures}`);
  try {
    const { figures, raw } = await bench.run({
      seed,
      folder,
      signal,
      rows: (full) => Math.max(FEWEST_ROWS, Math.round(full * scale)),
      rounds: (usual) => rounds ?? usual,
      say: (line) => say(`${bench.name}: ${line}`),
    });
    return { bench: bench.name, figures, failure: null, seconds: secondsSoFar(), raw };
  } catch (error) {
    if (signal.aborted || !(error instanceof Failure)) throw error;
    return { bench: bench.name, figures: [], failure: error.message, seconds: secondsSoFar(), raw: null };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
