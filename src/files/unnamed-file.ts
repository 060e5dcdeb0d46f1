import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Opens a new temporary file for reading and writing and deletes its name, so that it ends with this process at the
 * latest. The caller closes it. Rejects with the system's error when the file cannot be made.
 */
export async function openUnnamedFile(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'guardsweep-'));
  try {
    return await open(join(folder, 'unnamed'), 'wx+', 0o600);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
