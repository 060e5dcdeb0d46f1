import { constants, type Stats } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { readFully } from './read-fully.ts';

/** A path at which there is something, but no ordinary file: a pipe, a device, a folder, or a link that is not followed. */
export class NotAnOrdinaryFile extends Error {
  override readonly name = 'NotAnOrdinaryFile';
  readonly code = 'ENOTFILE';
  readonly path: string;

  constructor(path: string | Buffer, options?: ErrorOptions) {
    super('not an ordinary file', options);
    this.path = path.toString();
  }
}

/** A file or folder that holds more than its reader was told to expect. */
export class FileTooLarge extends Error {
  override readonly name = 'FileTooLarge';
  readonly code = 'EFBIG';
  readonly path: string;

  constructor(path: string | Buffer, maxBytes: number) {
    super(`more than ${maxBytes} bytes`);
    this.path = path.toString();
  }
}

/** What becomes of a symbolic link in the last part of a path. */
export type LinkRule = 'follow' | 'refuse';

/**
 * Opens an ordinary file for reading, and never waits: opening a pipe does not block until somebody writes to it, and
 * what was opened is looked at, not what the path held a moment before. Rejects with NotAnOrdinaryFile or the system's
 * error. Whoever opens it closes it.
 */
export async function openFile(path: string | Buffer, links: LinkRule): Promise<FileHandle> {
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;
  const handle = await opened(path, links === 'follow' ? flags : flags | constants.O_NOFOLLOW);
  try {
    if ((await handle.stat()).isFile()) return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  throw new NotAnOrdinaryFile(path);
}

/**
 * All of an ordinary file of at most `maxBytes`; rejects with FileTooLarge beyond that, and as `openFile` does. `inspect`
 * is given what the open file is, before it is read; what it throws is passed on.
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
    // One more byte is asked for than fits: a file may grow, and those in /proc say that they are empty.
    const stats = await handle.stat();
    inspect?.(stats);
    const { size } = stats;
    if (size > maxBytes) throw new FileTooLarge(path, maxBytes);
    const pieces: Buffer[] = [];
    for (let bytes = 0; ;) {
      const target = Buffer.allocUnsafe(Math.min(Math.max(size - bytes, 4096), maxBytes - bytes) + 1);
      const piece = await readFully(handle, target, bytes);
      bytes += piece.length;
      if (bytes > maxBytes) throw new FileTooLarge(path, maxBytes);
      pieces.push(piece);
      if (piece.length < target.length) return Buffer.concat(pieces);
    }
  } finally {
    await handle.close();
  }
}

/** Linux answers ELOOP for a link that is not followed, and ENXIO for a socket or a device that is not there. */
async function opened(path: string | Buffer, flags: number): Promise<FileHandle> {
  try {
    return await open(path, flags);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ELOOP' && (flags & constants.O_NOFOLLOW) !== 0)
      throw new NotAnOrdinaryFile(path, { cause: error });
    if (code === 'ENXIO') throw new NotAnOrdinaryFile(path, { cause: error });
    throw error;
  }
}
