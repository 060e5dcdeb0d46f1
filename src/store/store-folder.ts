import { randomBytes } from 'node:crypto';
import { link, lstat, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { createTemporary, DIRECTORY_MODE } from '../files/create-file.ts';
import { makeFolders, syncDirectory } from '../files/durable-write.ts';
import { FileTooLarge, NotAnOrdinaryFile, readWholeFile } from '../files/open-file.ts';
import { sharedWithOthers } from '../files/own-folder.ts';
import { isStoreDataFolder, STORE_FILES, temporaryStoreFile } from '../files/store-files.ts';
import { isOwnMarker, makeMarker, parseMarker, type StoreMarker } from './store-marker.ts';

const MAX_MARKER_BYTES = 4096;

/** The longest that data is made before it is used, by far. */
const ABANDONED_AFTER_MS = 24 * 60 * 60 * 1000;

/**
 * What a folder holds: nothing yet, a store of another host, data without a marker (which another process may be making,
 * or whose marker is lost), data to be replaced, or data to be checked and used.
 */
export type StoreFolder =
  | { readonly holds: 'nothing' | 'another host' | 'unmarked data' | 'untrusted data' }
  | { readonly holds: 'data'; readonly data: string };

/**
 * Looks at the folder of a store, and makes it if it does not exist. Failure('usage') for a folder that is not a
 * store's, or that others can write in: a store decides what is judged. Rejects with the system's error when it cannot
 * be made.
 */
export async function lookAtFolder(dir: string, key: Buffer | null): Promise<StoreFolder> {
  await makeFolders(dir);
  const shared = await sharedWithOthers(dir);
  if (shared !== null) {
    throw new Failure(
      'usage',
      `the folder of the verdict store ${dir} is ${shared}: name one that is yours alone with --store, or use --no-reuse`,
    );
  }
  const names = await readdir(dir);
  if (!names.every(isOurs)) {
    throw new Failure('usage', `${dir} is not a verdict store: name a new or empty folder with --store`);
  }
  if (names.length === 0) return { holds: 'nothing' };
  const marker = await readMarker(dir);
  if (marker !== null && marker.host !== hostname()) return { holds: 'another host' };
  if (marker === null && !names.includes(STORE_FILES.marker)) return { holds: 'unmarked data' };
  if (marker === null || !(await isOwnMarker(dir, marker, key))) return { holds: 'untrusted data' };
  return { holds: 'data', data: marker.data };
}

/** Null for data without a marker, and for a marker that is not what a store writes. */
async function readMarker(dir: string): Promise<StoreMarker | null> {
  const path = join(dir, STORE_FILES.marker);
  try {
    const text = await readWholeFile(path, { maxBytes: MAX_MARKER_BYTES, links: 'refuse' });
    return parseMarker(text.toString());
  } catch (error) {
    if (isReplaced(error)) return null;
    throw error;
  }
}

/** Makes a folder for new data, which the store does not use yet; returns its name. */
export async function makeDataFolder(dir: string): Promise<string> {
  const data = `data-${randomBytes(4).toString('hex')}`;
  await mkdir(join(dir, data), DIRECTORY_MODE);
  return data;
}

/**
 * Lets the store use this data from now on, in one step, and removes data that it no longer uses. `isFirst`: only if the
 * store has no marker yet; false when another process was faster.
 */
export async function useData(
  dir: string,
  data: string,
  { key, isFirst }: { readonly key: Buffer | null; readonly isFirst: boolean },
): Promise<boolean> {
  const path = join(dir, STORE_FILES.marker);
  const old = await readMarker(dir).catch(() => null);
  const temporary = join(dir, data, temporaryStoreFile(STORE_FILES.marker));
  const file = await createTemporary(temporary);
  try {
    await file.writeFile(`${JSON.stringify(await makeMarker(dir, data, key))}\n`);
    await file.datasync();
  } finally {
    await file.close();
  }
  if (!isFirst) await rename(temporary, path);
  else if (!(await linkedFirst(temporary, path))) return false;
  await syncDirectory(dir);
  for (const name of await readdir(dir)) {
    if (!isStoreDataFolder(name) || name === data) continue;
    // Processes that have the old data open keep it until they close it.
    if (name === old?.data || (await isAbandoned(join(dir, name)))) await removeData(dir, name);
  }
  return true;
}

/** Gives a file another name unless the name is taken, and removes the first name; whether it was free. */
async function linkedFirst(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(from, { force: true });
  }
}

/** Whether the process that made some data must have ended before it was used: nothing takes that long. */
async function isAbandoned(folder: string): Promise<boolean> {
  const { mtimeMs } = await lstat(folder);
  return Date.now() - mtimeMs > ABANDONED_AFTER_MS;
}

export async function removeData(dir: string, data: string): Promise<void> {
  await rm(join(dir, data), { recursive: true, force: true });
}

function isOurs(name: string): boolean {
  return name === STORE_FILES.marker || isStoreDataFolder(name);
}

function isReplaced(error: unknown): boolean {
  if (error instanceof NotAnOrdinaryFile || error instanceof FileTooLarge) return true;
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
}
