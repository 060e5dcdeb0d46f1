import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readRunRecord } from '../open-run.ts';

/** The run directories of a folder, newest first, at most `most`. */
export async function listRuns(folder: string, most: number): Promise<string[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  const runs: string[] = [];
  for (const name of names.sort().reverse()) {
    if (runs.length === most) break;
    const dir = join(folder, name);
    if (!name.startsWith('.') && (await readRunRecord(dir)) !== null) runs.push(dir);
  }
  return runs;
}
