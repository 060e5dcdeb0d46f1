import { access, lstat, opendir, realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { FileTooLargeError, NotRegularFileError } from './open-file.ts';
import { RUN_FILES } from './run-files.ts';

/** Whether a path exists and is visible to this process. */
export function pathExists(path: string | Buffer): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

/** Far more entries than any folder of a run directory has: a log segment per 256 MiB, and a few files per takeover. */
const MAX_NAMES = 100_000;

/**
 * Lists the names in a folder of a run directory, in no particular order. Rejects with NotRegularFileError for anything
 * but a folder, including symbolic links, and with FileTooLargeError if it has more entries than any run.
 */
export async function listFolder(path: string): Promise<string[]> {
  if (!(await lstat(path)).isDirectory()) throw new NotRegularFileError(path);
  const names: string[] = [];
  for await (const { name } of await opendir(path)) {
    if (names.push(name) > MAX_NAMES) throw new FileTooLargeError(path, MAX_NAMES);
  }
  return names;
}

const WRITABLE_BY_OTHERS = 0o022;

/** Why others can write to a folder. */
export type SharedFolder = 'of another user' | 'writable by others';

/**
 * Why users other than this one could change the contents of a folder, or replace entries with links while it is in
 * use; null if they cannot, and on systems without file owners, such as Windows. Rejects with NotRegularFileError for
 * anything but a folder.
 */
export async function sharedWithOthers(path: string): Promise<SharedFolder | null> {
  const found = await lstat(path);
  if (!found.isDirectory()) throw new NotRegularFileError(path);
  if (process.geteuid === undefined) return null;
  if (found.uid !== process.geteuid()) return 'of another user';
  return (found.mode & WRITABLE_BY_OTHERS) === 0 ? null : 'writable by others';
}

/**
 * Finds the run directory that contains a file, or would contain it once created, with links resolved; null if there is
 * none. Evidence for a record must not be stored in its directory, where anyone who changes the record can change it
 * too.
 */
export async function findEnclosingRunDirectory(path: string): Promise<string | null> {
  const absolute = resolve(path);
  let folder = dirname(await realpath(absolute).catch(() => absolute));
  folder = await realpath(folder).catch(() => folder);
  for (;;) {
    if (await pathExists(join(folder, RUN_FILES.run))) return folder;
    const above = dirname(folder);
    if (above === folder) return null;
    folder = above;
  }
}
