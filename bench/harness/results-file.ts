import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { projectFolder } from '../../training/project-folder.ts';
import type { Machine, Versions } from './machine.ts';
import type { BenchReport } from './table.ts';

/** The results of one run of benches. */
export interface Results {
  /** ISO 8601, UTC. */
  readonly began: string;
  readonly machine: Machine;
  readonly versions: Versions;
  readonly seed: number;
  readonly scale: number;
  readonly benches: readonly (BenchReport & { readonly seconds: number; readonly raw: object | null })[];
}

/**
 * Writes `<date>.json`, named by the start of the benches, to BENCH_RESULTS (relative to the user's folder), by default
 * `bench/results`. Returns the path.
 */
export async function writeResults(results: Results, env: NodeJS.ProcessEnv = process.env): Promise<string> {
  const named = env['BENCH_RESULTS'];
  const folder =
    named === undefined ? join(projectFolder(), 'bench', 'results') : resolve(env['INIT_CWD'] ?? '.', named);
  await mkdir(folder, { recursive: true });
  const date = results.began.replace(/\.\d+Z$/, 'Z').replaceAll(':', '');
  const path = join(folder, `${date}.json`);
  // Atomic: the file is rewritten while benches run.
  await writeFile(`${path}.tmp`, `${JSON.stringify(results, null, 2)}\n`);
  await rename(`${path}.tmp`, path);
  return path;
}
