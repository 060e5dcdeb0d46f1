import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { link, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../domain/failure.ts';
import { createTemporary, DIRECTORY_MODE } from '../files/create-file.ts';
import { makeFolders, syncDirectory } from '../files/durable-write.ts';
import { readWholeFile } from '../files/open-file.ts';
import { sharedWithOthers } from '../files/folders.ts';
import { isStoreDataFolder, STORE_FILES, temporaryStoreFile } from '../files/store-files.ts';

/** Format version of the entries: a store of another version is rebuilt. */
const FORM = 5;
const MAX_MARKER_BYTES = 4096;
/** Data that is being built is written to all the time; without a write for this many milliseconds, it is abandoned. */
const ABANDONED_AFTER_MS = 10 * 60_000;

/** The content of `store.json`. */
interface Marker {
  readonly kind: 'guardsweep verdict store';
  readonly form: number;
  /** The host whose processes use the store: LMDB locks do not work across hosts. */
  readonly host: string;
  /** Folder of the data, next to `store.json`. */
  readonly data: string;
  /** HMAC-SHA-256 under the user's run key, in hex; null for a user without one. */
  readonly seal: string | null;
}

/** Content of a folder: nothing yet, a store of another host, data that must not be used, or this user's data. */
export type StoreFolder =
  | { readonly holds: 'nothing' | 'another host' | 'other data' }
  | { readonly holds: 'data'; readonly data: string };

/**
 * Inspects the folder of a store, and creates it if it does not exist. Failure('usage') for a folder that is not a
 * store's, or that others can write in: a store determines what is judged. Data without a marker is being built by
 * another process. Rejects with the system's error when the folder cannot be created.
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
  if (!names.every((name) => name === STORE_FILES.marker || isStoreDataFolder(name)))
    throw new Failure('usage', `${dir} is not a verdict store: name a new or empty folder with --store`);
  if (!names.includes(STORE_FILES.marker)) return { holds: 'nothing' };
  const marker = await readMarker(dir);
  if (marker === null) return { holds: 'other data' };
  if (marker.host !== hostname()) return { holds: 'another host' };
  const expected = Buffer.from(sealOf(marker.data, key) ?? '');
  const found = Buffer.from(marker.seal ?? '');
  const isOwn = found.length === expected.length && timingSafeEqual(found, expected);
  return isOwn && marker.form === FORM ? { holds: 'data', data: marker.data } : { holds: 'other data' };
}

/** Creates a folder for new data, which the store does not use yet; returns its name. */
export async function makeDataFolder(dir: string): Promise<string> {
  const data = `data-${process.pid}-${randomBytes(4).toString('hex')}`;
  await mkdir(join(dir, data), DIRECTORY_MODE);
  return data;
}

/**
 * Makes the store use this data from now on, in one step, and removes unused data. With `isFirst`, only if the store
 * has no marker yet; returns false when another process was faster.
 */
export async function useData(
  dir: string,
  data: string,
  { key, isFirst }: { readonly key: Buffer | null; readonly isFirst: boolean },
): Promise<boolean> {
  const path = join(dir, STORE_FILES.marker);
  const old = (await readMarker(dir))?.data;
  const temporary = join(dir, data, temporaryStoreFile(STORE_FILES.marker));
  const file = await createTemporary(temporary);
  try {
    const of = { kind: 'guardsweep verdict store', form: FORM, host: hostname(), data } as const;
    await file.writeFile(`${JSON.stringify({ ...of, seal: sealOf(data, key) } satisfies Marker)}\n`);
    await file.datasync();
  } finally {
    await file.close();
  }
  if (!isFirst) await rename(temporary, path);
  else if (!(await isLinkedFirst(temporary, path))) return false;
  await syncDirectory(dir);
  for (const name of await readdir(dir)) {
    // Processes that have the old data open keep it until they close it; data of a killed process belongs to nobody.
    if (name !== data && (name === old || (await isAbandoned(dir, name)))) await removeData(dir, name);
  }
  return true;
}

export async function removeData(dir: string, data: string): Promise<void> {
  await rm(join(dir, data), { recursive: true, force: true });
}

/** Reads the marker; null if there is none, or it is not one that a store writes. */
async function readMarker(dir: string): Promise<Marker | null> {
  try {
    const options = { maxBytes: MAX_MARKER_BYTES, links: 'refuse' } as const;
    const text = await readWholeFile(join(dir, STORE_FILES.marker), options);
    const marker = JSON.parse(text.toString()) as Partial<Marker> | null;
    const { host, data, seal } = marker ?? {};
    const isMarker = typeof host === 'string' && typeof data === 'string' && isStoreDataFolder(data);
    return isMarker && (seal === null || typeof seal === 'string') ? (marker as Marker) : null;
  } catch {
    return null;
  }
}

/**
 * Distinguishes the user's own store from one that came in an archive: that is never opened, because the library trusts
 * its file.
 */
function sealOf(data: string, key: Buffer | null): string | null {
  if (key === null) return null;
  return createHmac('sha256', key).update(`guardsweep verdict store\0${FORM}\0${data}`).digest('hex');
}

/** Renames a file unless the new name is taken; returns whether it was free. The old name is removed in any case. */
async function isLinkedFirst(from: string, to: string): Promise<boolean> {
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

/** Whether a data folder was built by a process that has ended: nothing has been written in it for long. */
async function isAbandoned(dir: string, name: string): Promise<boolean> {
  if (!isStoreDataFolder(name)) return false;
  const entries = await readdir(join(dir, name)).catch(() => []);
  const times = [name, ...entries.map((entry) => join(name, entry))].map((path) => stat(join(dir, path)));
  const latest = Math.max(
    ...(await Promise.all(
      times.map((time) =>
        time.then(
          ({ mtimeMs }) => mtimeMs,
          () => 0,
        ),
      ),
    )),
  );
  return Date.now() - latest > ABANDONED_AFTER_MS;
}
