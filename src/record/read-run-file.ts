import { join } from 'node:path';
import { readWholeFile } from '../files/open-file.ts';
import { RUN_FILES } from '../files/run-files.ts';

const MIB = 1024 * 1024;

/** Max sizes, in bytes. A manifest has about 200 bytes per file of the log. */
const MAX_BYTES = new Map<string, number>([
  [RUN_FILES.run, 64 * MIB],
  [RUN_FILES.summary, 16 * MIB],
  [RUN_FILES.manifestHash, 4096],
  [RUN_FILES.manifestSignature, 4096],
]);
const MAX_MANIFEST_BYTES = 64 * MIB;

/**
 * Reads a whole file of a run directory: run.json, summary.json, a manifest, its hash or its signature. Does not follow
 * links. Rejects with NotRegularFileError, FileTooLargeError, or the system's error.
 */
export function readRunFile(runDir: string, name: string): Promise<Buffer> {
  const maxBytes = MAX_BYTES.get(name) ?? MAX_MANIFEST_BYTES;
  return readWholeFile(join(runDir, name), { maxBytes, links: 'refuse' });
}

/** Like `readRunFile`, but null for a file that does not exist. */
export async function readRunFileIfThere(runDir: string, name: string): Promise<Buffer | null> {
  try {
    return await readRunFile(runDir, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
