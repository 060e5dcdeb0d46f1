import { join } from 'node:path';
import { listFolder } from '../../files/folders.ts';
import { RUN_FILES, epochOfCommits } from '../../files/run-files.ts';

/** Lists the epochs that have a commits file, in ascending order; the newest may have no claim yet. */
export async function listEpochs(runDir: string): Promise<number[]> {
  let names: string[];
  try {
    names = await listFolder(join(runDir, RUN_FILES.log));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  return names
    .map(epochOfCommits)
    .filter((epoch) => epoch !== null)
    .sort((a, b) => a - b);
}
