import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { isDiskFull } from './disk-full.ts';
import { writeAt } from './durable-write.ts';

/**
 * Opens a new temporary file for reading and writing and deletes its name, so the file ceases to exist with this
 * process at the latest. The caller closes it. Failure('service') if the file cannot be created; the error of a full
 * disk is passed on unchanged.
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

/** Opens an unnamed file with the given content, positioned at its beginning. */
export async function openUnnamedFileWith(content: Buffer): Promise<FileHandle> {
  const file = await openUnnamedFile();
  try {
    // Written at an explicit position, so the file's own position stays at the beginning.
    await writeAt(file, content, 0);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}
