import { lstat, open, readdir, readlink, realpath, type FileHandle } from 'node:fs/promises';
import { constants, type Dirent } from 'node:fs';
import { sep } from 'node:path';
import { recordedPath, systemPath } from '../domain/file-path.ts';
import { openFile } from './open-file.ts';

/**
 * Reading below a folder that somebody else may write in at the same time. A check of a path says nothing about what is
 * opened a moment later, so the descriptor itself is asked where its file is. All paths are in the recorded form.
 */

/** A path below a folder that leads to something outside of it. */
export class OutsideFolder extends Error {
  override readonly name = 'OutsideFolder';
  readonly code = 'EOUTSIDE';

  constructor() {
    super('outside of the folder');
  }
}

/**
 * Opens an ordinary file below `folder`. Links are followed as long as they stay inside. Rejects with OutsideFolder,
 * and as `openFile` does. Whoever opens it closes it.
 */
export async function openInside(path: string, folder: string): Promise<FileHandle> {
  const [real, realFolder] = await Promise.all([realPath(path), realPath(folder)]);
  // Devices outside are not even opened, which may have effects.
  if (!isInside(real, realFolder)) throw new OutsideFolder();
  const handle = await openFile(systemPath(real), 'refuse');
  try {
    if (isInside(await placeOf(handle, real), realFolder)) return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  throw new OutsideFolder();
}

/**
 * What is in the folder at a path without links. Rejects with OutsideFolder when something led elsewhere meanwhile,
 * or with the system's error.
 */
export async function readFolder(real: string): Promise<Dirent<Buffer>[]> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(systemPath(real), flags);
  try {
    if ((await placeOf(handle, real)) !== real) throw new OutsideFolder();
    const options = { withFileTypes: true, encoding: 'buffer' } as const;
    const entries = await readdir(descriptorPath(handle), options).catch(() => null);
    if (entries !== null) return entries;
    const named = await readdir(systemPath(real), options);
    if ((await placeByName(handle, real)) !== real) throw new OutsideFolder();
    return named;
  } finally {
    await handle.close();
  }
}

/** Whether a path is a folder or below it; both without links. */
export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** The path without links. Rejects with the system's error. */
export async function realPath(path: string): Promise<string> {
  return recordedPath(await realpath(systemPath(path), { encoding: 'buffer' }));
}

/** Where the file is that a handle has open; `real` is where it was when it was opened. */
async function placeOf(handle: FileHandle, real: string): Promise<string> {
  const place = await readlink(descriptorPath(handle), { encoding: 'buffer' }).catch(() => null);
  return place === null ? placeByName(handle, real) : recordedPath(place);
}

/**
 * The same where the system does not tell of descriptors: the path, if the open file is still there. Somebody who
 * exchanges a folder above it twice, each time at the right moment, is not noticed.
 */
export async function placeByName(handle: FileHandle, path: string): Promise<string> {
  const real = await realPath(path);
  const [opened, there] = await Promise.all([
    handle.stat({ bigint: true }),
    lstat(systemPath(real), { bigint: true }),
  ]);
  if (opened.dev !== there.dev || opened.ino !== there.ino) throw new OutsideFolder();
  return real;
}

/** What Linux shows an open file as. */
function descriptorPath({ fd }: FileHandle): string {
  return `/proc/self/fd/${fd}`;
}
