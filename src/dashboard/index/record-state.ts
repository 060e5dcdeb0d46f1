import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { commitsName, RUN_FILES } from '../../files/run-files.ts';
import { listEpochs } from '../../record/log/epochs.ts';

/**
 * What tells that a record is the one that was indexed: manifest, outcomes, their table, and the newest part of the log, as far as the
 * file system knows them. Reads none of them.
 */
export async function recordState(runDir: string): Promise<string> {
  const epoch = (await listEpochs(runDir)).at(-1) ?? 0;
  const names = [
    RUN_FILES.manifest,
    RUN_FILES.verdicts,
    RUN_FILES.verdictsParquet,
    join(RUN_FILES.log, commitsName(epoch)),
  ];
  const states = await Promise.all(names.map((name) => fileState(join(runDir, name))));
  return [epoch, ...states].join(' ');
}

async function fileState(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await lstat(path, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(':');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'none';
    throw error;
  }
}
