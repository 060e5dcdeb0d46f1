import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { isDiskFull } from './disk-full.ts';
import { writeAt } from './durable-write.ts';

/**
 * Opens a new temporary file for reading and writing and deletes its name, so that it ends with this process at the
 * latest. The caller closes it. Failure('service') when the file cannot be made; a full disk's error as it is.
 */
export async function openUnnamedFile(): Promise<FileHandle> {
  try {
    const folder = await mkdtemp(join(tmpdir(), 'guardsweep-'));
    try {
      return await open(join(folder, 'unnamed'), 'wx+', 0o600);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  } catch (cause) {
    if (isDiskFull(cause)) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    throw new Failure(
      'service',
      `no temporary file can be made in ${tmpdir()} (${code ?? 'unknown error'}): set TMPDIR to a folder with room that can be written`,
      { cause },
    );
  }
}

/** Opens such a file with content, at its beginning. */
export async function openUnnamedFileWith(content: Buffer): Promise<FileHandle> {
  const file = await openUnnamedFile();
  try {
    // At a position: the file's own stays at the beginning.
    await writeAt(file, content, 0);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}
