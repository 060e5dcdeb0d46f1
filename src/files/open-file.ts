import { constants, fstatSync, type Stats } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { readFully } from './read-fully.ts';

/**
 * The path refers to something other than a regular file: a pipe, a device, a folder, or a link that must not be
 * followed.
 */
export class NotRegularFileError extends Error {
  override readonly name = 'NotRegularFileError';
  readonly code = 'ENOTFILE';
  readonly path: string;

  constructor(path: string | Buffer, options?: ErrorOptions) {
    super('not an ordinary file', options);
    this.path = path.toString();
  }
}

/** A file or folder that is larger than its reader allows. */
export class FileTooLargeError extends Error {
  override readonly name = 'FileTooLargeError';
  readonly code = 'EFBIG';
  readonly path: string;

  constructor(path: string | Buffer, maxBytes: number) {
    super(`more than ${maxBytes} bytes`);
    this.path = path.toString();
  }
}

/** How a symbolic link in the last part of a path is treated. */
type LinkRule = 'follow' | 'refuse';

/**
 * Opens a regular file for reading, without ever blocking: opening a pipe does not wait for a writer. The type is
 * checked on the open descriptor, so the path cannot be swapped in between. Rejects with NotRegularFileError or the
 * system's error. The caller closes the file.
 */
export async function openFile(path: string | Buffer, links: LinkRule): Promise<FileHandle> {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
  const handle = await opened(path, links === 'follow' ? flags : flags | constants.O_NOFOLLOW);
  try {
    // The state of an open file is available at once; using a pool thread would take ten times as long.
    if (fstatSync(handle.fd).isFile()) return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  throw new NotRegularFileError(path);
}

/**
 * Reads a whole regular file of at most `maxBytes`. Rejects with FileTooLargeError for a larger one, and as `openFile`
 * does. `inspect` receives the stats of the open file before it is read; errors it throws are passed on.
 */
export async function readWholeFile(
  path: string | Buffer,
  {
    maxBytes,
    links,
    inspect,
  }: {
    readonly maxBytes: number;
    readonly links: LinkRule;
    readonly inspect?: ((stats: Stats) => void) | undefined;
  },
): Promise<Buffer> {
  const handle = await openFile(path, links);
  try {
    // Asks for one byte more than allowed: a file may grow, and files in /proc report a size of 0.
    const stats = await handle.stat();
    inspect?.(stats);
    const { size } = stats;
    if (size > maxBytes) throw new FileTooLargeError(path, maxBytes);
    const pieces: Buffer[] = [];
    for (let bytes = 0; ;) {
      const target = Buffer.allocUnsafe(Math.min(Math.max(size - bytes, 4096), maxBytes - bytes) + 1);
      const piece = await readFully(handle, target, bytes);
      bytes += piece.length;
      if (bytes > maxBytes) throw new FileTooLargeError(path, maxBytes);
      pieces.push(piece);
      if (piece.length < target.length) return Buffer.concat(pieces);
    }
  } finally {
    await handle.close();
  }
}

/**
 * Reads the first bytes of a regular file; null for anything else, and for a file that cannot be read. Follows no link.
 */
export async function readHead(path: string | Buffer, bytes: number): Promise<Buffer | null> {
  const handle = await openFile(path, 'refuse').catch(() => null);
  try {
    return handle && (await readFully(handle, Buffer.alloc(bytes), 0));
  } catch {
    return null;
  } finally {
    await handle?.close();
  }
}

/** Linux returns ELOOP for a link not to be followed, and ENXIO for a socket or a missing device. */
async function opened(path: string | Buffer, flags: number): Promise<FileHandle> {
  try {
    return await open(path, flags);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ELOOP' && (flags & constants.O_NOFOLLOW) !== 0)
      throw new NotRegularFileError(path, { cause: error });
    if (code === 'ENXIO') throw new NotRegularFileError(path, { cause: error });
    throw error;
  }
}
