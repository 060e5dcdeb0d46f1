import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Names of directories that become runs: see `createRun` and `newStdinPath`. */
const UNFINISHED = /^\.(?:\d{8}T\d{6}Z-.+-[0-9a-f]{4}|stdin)-[0-9a-f]{8}$/;

/** A directory in which nothing was written for this long, in milliseconds, belongs to no process. */
const ABANDONED_MS = 24 * 3_600_000;

/**
 * Removes directories that killed processes left in a folder of runs before they became runs. They may hold data from
 * stdin. Directories that cannot be removed stay.
 */
export async function removeAbandoned(out: string): Promise<void> {
  const names = await readdir(out).catch(() => []);
  for (const dir of names.filter((name) => UNFINISHED.test(name)).map((name) => join(out, name))) {
    try {
      if ((await lstat(dir)).isDirectory() && Date.now() - (await lastWritten(dir)) > ABANDONED_MS)
        await rm(dir, { recursive: true, force: true });
    } catch {
      // Another process removes it too, or it belongs to another user.
    }
  }
}

async function lastWritten(dir: string): Promise<number> {
  const paths = [dir, ...(await readdir(dir)).map((name) => join(dir, name))];
  return Math.max(...(await Promise.all(paths.map((path) => lstat(path)))).map(({ mtimeMs }) => mtimeMs));
}
