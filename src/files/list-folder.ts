import { lstat, opendir } from 'node:fs/promises';
import { FileTooLarge, NotAnOrdinaryFile } from './open-file.ts';

/** Folders of a run directory hold far fewer: a log segment per 256 MiB, and a few files per takeover. */
const MAX_NAMES = 100_000;

/**
 * The names in a folder of a run directory, in no particular order. Rejects with NotAnOrdinaryFile for anything but a
 * folder, symbolic links included, and with FileTooLarge when it has more entries than any run.
 */
export async function listFolder(path: string): Promise<string[]> {
  if (!(await lstat(path)).isDirectory()) throw new NotAnOrdinaryFile(path);
  const names: string[] = [];
  for await (const { name } of await opendir(path)) {
    if (names.push(name) > MAX_NAMES) throw new FileTooLarge(path, MAX_NAMES);
  }
  return names;
}
