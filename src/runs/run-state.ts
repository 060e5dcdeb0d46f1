import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { readManifest } from '../record/manifest/manifest.ts';
import { readRunFile } from '../record/read-run-file.ts';
import { RUN_FILES } from '../files/run-files.ts';
import type { Summary } from '../record/summary/summary.ts';
import { listEpochs } from '../record/log/epochs.ts';

/**
 * The summary of a run that is finished: its manifest is there, with every file it names, and nobody has claimed the
 * log since. Null while there is, or may be, work left; final files that are gone are work that resume can do.
 * Whether the files still hold what they held is for verify to say.
 */
export async function finishedSummary(runDir: string): Promise<Summary | null> {
  try {
    const manifest = await readManifest(runDir);
    if (manifest.epoch !== (await listEpochs(runDir)).at(-1)) return null;
    for (const { path, bytes } of manifest.files) {
      if ((await lstat(join(runDir, path))).size < bytes) return null;
    }
    return JSON.parse((await readRunFile(runDir, RUN_FILES.summary)).toString()) as Summary;
  } catch {
    return null;
  }
}
