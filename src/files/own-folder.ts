import { lstat } from 'node:fs/promises';
import { NotAnOrdinaryFile } from './open-file.ts';

const WRITABLE_BY_OTHERS = 0o022;

/** Why a folder is not this user's alone to write in. */
export type SharedFolder = 'of another user' | 'writable by others';

/**
 * Whether others than this user could change what is in a folder, or swap it for a link while it is worked in; null when
 * they could not. Where the system has no owners, as Windows, nothing is known of that and the answer is null. Rejects
 * with NotAnOrdinaryFile for anything but a folder.
 */
export async function sharedWithOthers(path: string): Promise<SharedFolder | null> {
  const found = await lstat(path);
  if (!found.isDirectory()) throw new NotAnOrdinaryFile(path);
  if (process.geteuid === undefined) return null;
  if (found.uid !== process.geteuid()) return 'of another user';
  return (found.mode & WRITABLE_BY_OTHERS) === 0 ? null : 'writable by others';
}
