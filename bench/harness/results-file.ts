import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectFolder } from '../../src/guard-server/lite/training/project-folder.ts';
import { type Machine, type Versions } from './machine.ts';
import { type BenchReport } from './table.ts';

/** Everything about one run of benches. */
export interface Results {
  /** ISO 8601, UTC. */
  readonly began: string;
  readonly machine: Machine;
  readonly versions: Versions;
  readonly seed: number;
  readonly scale: number;
  readonly benches: readonly (BenchReport & { readonly seconds: number; readonly raw: object | null })[];
}

/** Writes `bench/results/<date>.json`, the date being that of its beginning to the second; gives the path. */
export async function writeResults(results: Results): Promise<string> {
  const folder = join(projectFolder(), 'bench', 'results');
  await mkdir(folder, { recursive: true });
  const date = results.began.replace(/\.\d+Z$/, 'Z').replaceAll(':', '');
  const path = join(folder, `${date}.json`);
  await writeFile(path, `${JSON.stringify(results, null, 2)}\n`);
  return path;
}
