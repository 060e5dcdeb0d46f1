import { constants } from 'node:fs';
import { lstat, open, rm, type FileHandle } from 'node:fs/promises';
import { NotRegularFileError } from './open-file.ts';

/**
 * Run directories, and the parent folders created for them, are accessible to their owner only, regardless of the
 * umask.
 */
export const DIRECTORY_MODE = 0o700;
export const FILE_MODE = 0o600;

/**
 * Creates a file for writing. Rejects with EEXIST if the name exists, even as a dangling link. The caller closes the
 * file.
 */
export function createFile(path: string | Buffer): Promise<FileHandle> {
  return open(path, 'wx', FILE_MODE);
}

/** Creates a temporary file for writing, after removing one that a crash left behind under its name. */
export async function createTemporary(path: string): Promise<FileHandle> {
  await rm(path, { force: true });
  return createFile(path);
}

/** Reopens for writing a file that this process created. Does not follow a link that has replaced it. */
export function reopenFile(path: string): Promise<FileHandle> {
  return open(path, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
}

/**
 * Opens a file for reading and appending, creating it if necessary. Rejects with NotRegularFileError for a link, a pipe
 * or a device, and for a file with more than one hard link: appending would change it under its other name too.
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
    throw new NotRegularFileError(path, { cause });
  }
  try {
    const found = await handle.stat();
    if (found.isFile() && found.nlink === 1) return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  throw new NotRegularFileError(path);
}
