import { mkdir, open, rename, stat, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createTemporary, DIRECTORY_MODE } from './create-file.ts';

/** Writes all bytes at the position. Idempotent: a failed call may be repeated. */
export async function writeAt(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    const result = await handle.write(bytes, written, bytes.length - written, position + written);
    written += result.bytesWritten;
  }
}

/**
 * Creates a folder and its missing parents, accessible to their owner only. Rejects with the system's error. (Node's
 * recursive `mkdir` never returns for a path in a folder such as /proc, where creating anything fails with ENOENT.)
 */
export async function makeFolders(path: string): Promise<void> {
  const make = async (): Promise<void> => {
    try {
      await mkdir(path, DIRECTORY_MODE);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !(await stat(path)).isDirectory())
        throw error;
    }
  };
  try {
    await make();
  } catch (error) {
    const parent = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || parent === path) throw error;
    await makeFolders(parent);
    await make();
  }
}

/** Makes the entries of a directory durable: files created, renamed or removed in it. */
export async function syncDirectory(path: string | Buffer): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Writes a small file that appears complete and synced, or not at all. Until then, its path is `temporary`. */
export async function replaceDurably(path: string, text: string, temporary: string): Promise<void> {
  const file = await createTemporary(temporary);
  try {
    await file.writeFile(text);
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
  await syncDirectory(dirname(path));
}
