import { constants, readlinkSync, type Dirent } from 'node:fs';
import { lstat, open, readdir, realpath, type FileHandle } from 'node:fs/promises';
import { sep } from 'node:path';
import { encodePath, decodePath } from '../domain/file-path.ts';
import { openFile } from './open-file.ts';

/**
 * Reads below a folder to which others may write at the same time. Checking a path before opening it would be a race,
 * so the location of the file is read from its open descriptor. All paths are encoded paths.
 */

/** The path is below a folder but leads outside it. */
export class PathEscapesFolderError extends Error {
  override readonly name = 'PathEscapesFolderError';
  readonly code = 'EOUTSIDE';

  constructor() {
    super('outside the folder');
  }
}

/**
 * Opens a regular file below `folder`. Links are followed as long as they stay inside. Rejects with
 * PathEscapesFolderError, and as `openFile` does. The caller closes the file.
 */
export async function openInside(path: string, folder: string): Promise<FileHandle> {
  const [real, realFolder] = await Promise.all([realPath(path), realPath(folder)]);
  // Opening a device can have side effects, so one outside is not even opened.
  if (!isInside(real, realFolder)) throw new PathEscapesFolderError();
  const handle = await openFile(decodePath(real), 'refuse');
  try {
    if (isInside(await placeOf(handle, real), realFolder)) return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  throw new PathEscapesFolderError();
}

/**
 * Reads the entries of the folder at a path without links. Rejects with PathEscapesFolderError if the path was swapped
 * in the meantime, or with the system's error.
 */
export async function readFolder(real: string): Promise<Dirent<Buffer>[]> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(decodePath(real), flags);
  try {
    if ((await placeOf(handle, real)) !== real) throw new PathEscapesFolderError();
    const options = { withFileTypes: true, encoding: 'buffer' } as const;
    const entries = await readdir(descriptorPath(handle), options).catch(() => null);
    if (entries !== null) return entries;
    const named = await readdir(decodePath(real), options);
    if ((await placeByName(handle, real)) !== real) throw new PathEscapesFolderError();
    return named;
  } finally {
    await handle.close();
  }
}

/** Whether a path is the folder itself or below it. Neither may contain links. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** Resolves all links in a path. Rejects with the system's error. */
export async function realPath(path: string): Promise<string> {
  return encodePath(await realpath(decodePath(path), { encoding: 'buffer' }));
}

/** The current path of an open file; `real` is its path when it was opened. */
async function placeOf(handle: FileHandle, real: string): Promise<string> {
  let place: Buffer;
  try {
    // Answered by the kernel, without disk access.
    place = readlinkSync(descriptorPath(handle), { encoding: 'buffer' });
  } catch {
    return placeByName(handle, real);
  }
  return encodePath(place);
}

/**
 * Like `placeOf`, for systems without /proc: the path, if it still refers to the open file. Does not detect a parent
 * folder that is swapped and swapped back at the right moments. Exported for tests, which run where /proc exists.
 */
export async function placeByName(handle: FileHandle, path: string): Promise<string> {
  const real = await realPath(path);
  const [opened, there] = await Promise.all([
    handle.stat({ bigint: true }),
    lstat(decodePath(real), { bigint: true }),
  ]);
  if (opened.dev !== there.dev || opened.ino !== there.ino) throw new PathEscapesFolderError();
  return real;
}

/** The link that Linux provides for an open descriptor. */
function descriptorPath({ fd }: FileHandle): string {
  return `/proc/self/fd/${fd}`;
}
