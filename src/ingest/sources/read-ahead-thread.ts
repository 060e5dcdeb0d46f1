/** Entry point of a thread that reads small files. It answers each batch with the files that it could read as frozen. */
import { hash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync, realpathSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import { recordedPath, systemPath } from '../../domain/file-path.ts';
import { beginsWith } from '../../domain/magic-bytes.ts';
import { isInside } from '../../files/open-inside.ts';
import type { FrozenState } from '../plan/plan-line.ts';
import { binaryKind } from '../recognise/binary-kind.ts';
import { matchesSnapshot } from './file-bytes.ts';

/** Recorded paths; `within` is the folder that links must not leave. */
export interface FileToRead extends FrozenState {
  readonly absolute: string;
  readonly within: string;
}

/** The files one after the other, and the SHA-256 of each: null for one that has to be opened in the usual way. */
export interface FilesRead {
  readonly bytes: Uint8Array;
  readonly sha256: readonly (string | null)[];
}

const { O_RDONLY, O_NONBLOCK, O_NOCTTY, O_NOFOLLOW, O_DIRECTORY } = constants;

/** A folder of files: held open, so that no link can come in its place between two of them. */
interface Folder {
  readonly path: string;
  readonly fd: number;
  /** The folder that its files must be in, without links. */
  readonly within: string;
}

/** Null for a folder that cannot be opened or is not inside `within`. */
function openFolder(path: string, within: string): Folder | null {
  const real = realPath(path);
  const realWithin = path === within ? real : realPath(within);
  const fd = openSync(systemPath(real), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK);
  if (isInside(placeOf(fd), realWithin)) return { path, fd, within: realWithin };
  closeSync(fd);
  return null;
}

/** Whether nobody has moved the folder out of the corpus since it was opened; closes it. */
function stayedInside({ fd, within }: Folder): boolean {
  try {
    return isInside(placeOf(fd), within);
  } finally {
    closeSync(fd);
  }
}

/** Fills `target` with a file that is small, ordinary, as it was frozen, and neither media nor Parquet. */
function readInto(target: Buffer, file: FileToRead, { fd: folder }: Folder): string | null {
  const name = Buffer.from(systemPath(file.absolute.slice(file.absolute.lastIndexOf('/') + 1)));
  const path = Buffer.concat([Buffer.from(`/proc/self/fd/${folder}/`), name]);
  const fd = openSync(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
  try {
    const stats = fstatSync(fd);
    if (!stats.isFile() || !matchesSnapshot(stats, file)) return null;
    for (let read = 0; read < target.length;) {
      const count = readSync(fd, target, read, target.length - read, read);
      if (count === 0) return null;
      read += count;
    }
    const isText = !beginsWith(target, 'gzip') && binaryKind(target, file.absolute, null) === null;
    return isText && matchesSnapshot(fstatSync(fd), file) ? hash('sha256', target) : null;
  } finally {
    closeSync(fd);
  }
}

function readFiles(files: readonly FileToRead[]): FilesRead {
  const bytes = Buffer.allocUnsafeSlow(files.reduce((sum, file) => sum + file.bytes, 0));
  const sha256: (string | null)[] = [];
  let at = 0;
  for (let first = 0; first < files.length; first = sha256.length) {
    const { within } = files[first]!;
    const path = folderOf(files[first]!);
    const folder = orNull(() => openFolder(path, within));
    for (let file = files[first]; file?.within === within && folderOf(file) === path;) {
      const target = bytes.subarray(at, (at += file.bytes));
      const here = file;
      sha256.push(folder && orNull(() => readInto(target, here, folder)));
      file = files[sha256.length];
    }
    if (folder !== null && orNull(() => stayedInside(folder)) !== true) sha256.fill(null, first);
  }
  return { bytes, sha256 };
}

/** Null if the system refuses: whoever opens the file in the usual way finds out what is wrong. */
function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}

function folderOf({ absolute }: FileToRead): string {
  return absolute.slice(0, absolute.lastIndexOf('/')) || '/';
}

function realPath(path: string): string {
  return recordedPath(realpathSync.native(systemPath(path), { encoding: 'buffer' }));
}

/** Where an open file or folder is now. */
function placeOf(fd: number): string {
  return recordedPath(readlinkSync(`/proc/self/fd/${fd}`, { encoding: 'buffer' }));
}

parentPort!.on('message', (files: readonly FileToRead[]) => {
  const read = readFiles(files);
  parentPort!.postMessage(read, [read.bytes.buffer as ArrayBuffer]);
});
