import { lstat } from 'node:fs/promises';
import { NotAnOrdinaryFile } from './open-file.ts';

const WRITABLE_BY_OTHERS = 0o022;

/** Why others can write to a folder. */
export type SharedFolder = 'of another user' | 'writable by others';

/**
 * Why users other than this one could change the contents of a folder, or replace entries with links while it is in
 * use; null when they cannot, and on systems without file owners, such as Windows. Rejects with NotAnOrdinaryFile for
 * anything but a folder.
 */
export async function sharedWithOthers(path: string): Promise<SharedFolder | null> {
  const found = await lstat(path);
  if (!found.isDirectory()) throw new NotAnOrdinaryFile(path);
  if (process.geteuid === undefined) return null;
  if (found.uid !== process.geteuid()) return 'of another user';
  return (found.mode & WRITABLE_BY_OTHERS) === 0 ? null : 'writable by others';
}
