import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { RUN_FILES } from '../../files/run-files.ts';

/** The run directories of a folder, newest first, at most `max`; damaged ones included. */
export async function listRuns(folder: string, max: number): Promise<string[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  const runs: string[] = [];
  for (const name of names.sort().reverse()) {
    if (runs.length === max) break;
    const dir = join(folder, name);
    if (!name.startsWith('.') && existsSync(join(dir, RUN_FILES.run))) runs.push(dir);
  }
  return runs;
}
