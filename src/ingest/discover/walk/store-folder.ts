import { join } from 'node:path';
import { systemPath } from '../../../domain/file-path.ts';
import { readHead } from '../../../files/open-file.ts';
import {
  CLOSED_START,
  isStoreDataFolder,
  MARKER_START,
  STORE_FILES,
  temporaryStoreFile,
} from '../../../files/store-files.ts';

/**
 * The files of a verdict store inside a corpus are not judged. As for run directories, a name is not enough: a file
 * belongs to a store if it has one of our names and begins like our files of that name.
 */

/** Enough for what a file of a store is known by. */
const HEAD_BYTES = 64;

/** The number by which LMDB knows its files, as they hold it. */
const MAGIC = Buffer.from('dec0efbe', 'hex');
/** Where it is: in the first page of the data, and in the file of the locks. */
const MAGIC_IN_DATA = 24;
const MAGIC_IN_LOCK = 0;

/** Whether the folder at this real path is that of a verdict store. */
export function isStoreFolder(real: string): Promise<boolean> {
  return isFileOfStore(join(real, STORE_FILES.marker), STORE_FILES.marker);
}

/** Whether the file at `path` is one that a store wrote; `relative` is the path below the store's folder. */
export async function isFileOfStore(path: string, relative: string): Promise<boolean> {
  const [folder, name] = relative.includes('/') ? relative.split('/', 2) : ['', relative];
  if (folder !== '' && (!isStoreDataFolder(folder!) || relative.split('/').length > 2)) return false;
  const begins = startOf(folder === '' ? 'top' : 'data', name!);
  if (begins === null) return false;
  const head = await readHead(systemPath(path), HEAD_BYTES);
  return head !== null && (head.length === 0 || begins(head));
}

/** How a file of a store begins, by its name at the top or in the folder of the data; null for other files. */
function startOf(place: 'top' | 'data', name: string): ((head: Buffer) => boolean) | null {
  const text = (start: string) => (head: Buffer) => head.toString('latin1').startsWith(start);
  const magicAt = (at: number) => (head: Buffer) => head.subarray(at, at + MAGIC.length).equals(MAGIC);
  if (place === 'top') return name === STORE_FILES.marker ? text(MARKER_START) : null;
  if (name === temporaryStoreFile(STORE_FILES.marker)) return text(MARKER_START);
  if (name === STORE_FILES.closed) return text(CLOSED_START);
  if (name === STORE_FILES.data) return magicAt(MAGIC_IN_DATA);
  return name === STORE_FILES.lock ? magicAt(MAGIC_IN_LOCK) : null;
}
