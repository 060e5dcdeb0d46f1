import { mkdir, open, stat, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { DIRECTORY_MODE } from './create-file.ts';

/** Writes all of the bytes at the position; the same call may be made again after it failed. */
export async function writeAt(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    const result = await handle.write(bytes, written, bytes.length - written, position + written);
    written += result.bytesWritten;
  }
}

/**
 * Makes a folder and those it is in, where they are not there, for their owner alone. Rejects with the system's error.
 * (The same of Node goes round for ever below a folder that lets nothing be made in it and says that it is not there, as /proc does.)
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

/** Makes the names in a directory durable: files created, renamed or removed there. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
