import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RUN_FILES } from '../sink/run-files.ts';
import { type Summary } from '../sink/summary.ts';
import { listEpochs } from '../sink/verdict-log/epochs.ts';

/**
 * The summary of a run that is finished: it has its manifest, and nobody has claimed its log since the manifest was
 * written. Null while there is, or may be, work left.
 */
export async function finishedSummary(runDir: string): Promise<Summary | null> {
  try {
    const manifest = JSON.parse(await readFile(join(runDir, RUN_FILES.manifest), 'utf8')) as {
      epoch: number;
    };
    if (manifest.epoch !== (await listEpochs(runDir)).at(-1)) return null;
    return JSON.parse(await readFile(join(runDir, RUN_FILES.summary), 'utf8')) as Summary;
  } catch {
    return null;
  }
}
