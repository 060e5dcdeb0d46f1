import { realpath } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { RUN_FILES } from './run-files.ts';
import { isThere } from './is-there.ts';

/**
 * The run directory that holds a file, or would hold it once created, with links resolved; null when there is none.
 * What vouches for a record must not be stored beside it, where whoever changes the record can change it too.
 */
export async function runDirectoryAround(path: string): Promise<string | null> {
  const absolute = resolve(path);
  let folder = dirname(await realpath(absolute).catch(() => absolute));
  folder = await realpath(folder).catch(() => folder);
  for (;;) {
    if (await isThere(join(folder, RUN_FILES.run))) return folder;
    const above = dirname(folder);
    if (above === folder) return null;
    folder = above;
  }
}
