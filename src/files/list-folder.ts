import { lstat, opendir } from 'node:fs/promises';
import { FileTooLarge, NotAnOrdinaryFile } from './open-file.ts';

/** A folder of a run directory has far fewer: a segment of the log for each 256 MiB, and a few files a takeover. */
const MAX_NAMES = 100_000;

/**
 * The names in a folder of a run directory, in no order. Rejects with NotAnOrdinaryFile where something else has its
 * name, a symbolic link included; with FileTooLarge when it holds more than any run has.
 */
export async function listFolder(path: string): Promise<string[]> {
  if (!(await lstat(path)).isDirectory()) throw new NotAnOrdinaryFile(path);
  const names: string[] = [];
  for await (const { name } of await opendir(path)) {
    if (names.push(name) > MAX_NAMES) throw new FileTooLarge(path, MAX_NAMES);
  }
  return names;
}
