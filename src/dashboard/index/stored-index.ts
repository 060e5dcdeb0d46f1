import { hash } from 'node:crypto';
import { chmod, copyFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { FILE_MODE } from '../../files/create-file.ts';
import { makeFolders } from '../../files/durable-write.ts';
import { listFolder } from '../../files/folders.ts';
import { hashFile } from '../../files/hash-file.ts';
import { RUN_FILES } from '../../files/run-files.ts';
import type { Manifest } from '../../record/manifest/manifest.ts';
import { assertOwnRun } from '../../runs/trust/own-run.ts';

/** Version of the tables, to be changed with them. */
const FORM = 'guardsweep-index-1';
/** The first hash identifies the input of the index, the second is that of the file. */
const NAME = /^index-([0-9a-f]{64})-([0-9a-f]{64})\.duckdb$/;

/** Identifies the input of an index: the files of these names in a manifest. Returns 64 hex digits. */
export function sourceOfIndex({ files }: Manifest, names: ReadonlySet<string>): string {
  const sources = files.filter(({ path }) => names.has(path)).map(({ path, sha256 }) => [path, sha256]);
  return hash('sha256', JSON.stringify([FORM, ...sources]));
}

/**
 * Finds an index that a server has stored in the folder `review` of a run. Null if there is no undamaged one for this
 * input, or if others can write to the run directory. Rejects with the signal's reason when aborted.
 */
export async function findStoredIndex(
  runDir: string,
  source: string,
  signal: AbortSignal,
): Promise<string | null> {
  const folder = join(runDir, RUN_FILES.review);
  try {
    await assertOwnRun(runDir);
    for (const name of await listFolder(folder)) {
      const [, madeFrom, sha256] = NAME.exec(name) ?? [];
      if (madeFrom !== source) continue;
      const path = join(folder, name);
      if ((await hashFile(path, { signal })).sha256 === sha256) return path;
    }
  } catch {
    // An unreadable index is rebuilt.
    signal.throwIfAborted();
  }
  return null;
}

/**
 * Stores a copy of an index for other servers, replacing earlier ones. Does nothing if there is no space or permission.
 */
export async function storeIndex(
  runDir: string,
  source: string,
  built: string,
  signal: AbortSignal,
): Promise<void> {
  const folder = join(runDir, RUN_FILES.review);
  const temporary = join(folder, `.index-${process.pid}.tmp`);
  try {
    await assertOwnRun(runDir);
    await makeFolders(folder);
    const name = `index-${source}-${(await hashFile(built, { signal })).sha256}.duckdb`;
    await copyFile(built, temporary);
    await chmod(temporary, FILE_MODE);
    await rename(temporary, join(folder, name));
    const others = (await listFolder(folder)).filter((other) => NAME.test(other) && other !== name);
    for (const other of others) await rm(join(folder, other), { force: true });
  } catch {
    signal.throwIfAborted();
    await rm(temporary, { force: true }).catch(() => {});
  }
}
