import { constants } from 'node:fs';
import { lstat, open, rm, type FileHandle } from 'node:fs/promises';
import { NotAnOrdinaryFile } from './open-file.ts';

/** Run directories, and folders that are made to hold them, are for their owner alone, whatever the umask is. */
export const DIRECTORY_MODE = 0o700;
export const FILE_MODE = 0o600;

/**
 * Creates a file for writing. Rejects with EEXIST when the name is taken, also by a symbolic link that leads nowhere.
 * Whoever creates it closes it.
 */
export function createFile(path: string): Promise<FileHandle> {
  return open(path, 'wx', FILE_MODE);
}

/** The same for a temporary file: one that a crash left behind is removed first. */
export async function createTemporary(path: string): Promise<FileHandle> {
  await rm(path, { force: true });
  return createFile(path);
}

/** Opens a file that this process has created for writing again. Rejects where it is not the same kind of thing any more. */
export function reopenFile(path: string): Promise<FileHandle> {
  return open(path, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
}

/**
 * Opens a file for reading and for writing at its end, and creates it if it is not there. Rejects with
 * NotAnOrdinaryFile for a link, a pipe or a device, and for a file that has a second name elsewhere: what is written
 * here would change it there.
 */
export async function openForAppending(path: string): Promise<FileHandle> {
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants;
  const flags = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  let handle: FileHandle;
  try {
    handle = await open(path, flags, FILE_MODE);
  } catch (cause) {
    const found = await lstat(path).catch(() => null);
    if (found === null || found.isFile()) throw cause;
    throw new NotAnOrdinaryFile(path, { cause });
  }
  try {
    const found = await handle.stat();
    if (found.isFile() && found.nlink === 1) return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  throw new NotAnOrdinaryFile(path);
}
