import type { Stats } from 'node:fs';
import { type FileHandle, stat } from 'node:fs/promises';
import { createGunzip, type Gunzip } from 'node:zlib';
import { systemPath } from '../../domain/file-path.ts';
import { beginsWith } from '../../domain/magic-bytes.ts';
import { readFully } from '../../files/read-fully.ts';
import type { FileState } from '../plan/plan-line.ts';

const PIECE_BYTES = 256 * 1024;

/**
 * Compressed bytes inflated at a time: what comes out before the reader can hold it back is at most a thousand times
 * as much, however the file was made.
 */
const DEFLATED_BYTES = 8 * 1024;

/**
 * What the file at a recorded path is recognised by later. One that cannot be looked at cannot be read either, and
 * reading it will say so.
 */
export async function frozenState(path: string): Promise<FileState> {
  try {
    const stats = await stat(systemPath(path));
    return { bytes: stats.size, mtime_ms: stats.mtimeMs, inode: stats.ino };
  } catch {
    return { bytes: 0, mtime_ms: 0, inode: 0 };
  }
}

/** Whether a file is still the one that was frozen: same size, modification time and inode. */
export function isAsFrozen(stats: Stats, source: FileState): boolean {
  return (
    stats.size === source.bytes && stats.mtimeMs === source.mtime_ms && Number(stats.ino) === source.inode
  );
}

/** The same, of the file at a path; false too when there is none that can be looked at. */
export async function fileUnchanged(file: FileState & { readonly absolute: string }): Promise<boolean> {
  try {
    return isAsFrozen(await stat(systemPath(file.absolute)), file);
  } catch {
    return false;
  }
}

/**
 * The first bytes of an open file, in pieces of one size: `limit` of them, or as many as there are. Every piece is given
 * to `observe` first.
 */
export async function* fileBytes(
  handle: FileHandle,
  limit: number,
  signal: AbortSignal,
  observe: (piece: Buffer) => void = () => {},
): AsyncGenerator<Buffer, void> {
  for (let position = 0; position < limit;) {
    signal.throwIfAborted();
    const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, limit - position));
    const read = await readFully(handle, piece, position);
    if (read.length === 0) return;
    position += read.length;
    observe(read);
    yield read;
    if (read.length < piece.length) return;
  }
}

/** A gzip file that does not inflate to its end. What came before was given. */
export class CorruptGzip extends Error {
  override readonly name = 'CorruptGzip';
  /** Offset in the file of the part that does not inflate; null when the file is cut short. */
  readonly partAt: number | null;

  constructor(partAt: number | null, cause: unknown) {
    super('the gzip data does not inflate', { cause });
    this.partAt = partAt;
  }
}

/**
 * The pieces as they are, or inflated when they are a gzip file. `again` gives the same
 * pieces once more: what zlib inflates of the part in which it fails is only to be had by inflating it byte by byte.
 */
export async function* inflateIfGzip(
  pieces: AsyncIterable<Buffer>,
  again: () => AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void> {
  const iterator = pieces[Symbol.asyncIterator]();
  try {
    const first = await iterator.next();
    if (first.done === true) return;
    const all = joined(first.value, iterator);
    if (!beginsWith(first.value, 'gzip')) {
      yield* all;
      return;
    }
    let given = 0;
    try {
      for await (const piece of inflate(all, Number.POSITIVE_INFINITY)) {
        given += piece.length;
        yield piece;
      }
    } catch (error) {
      if (!(error instanceof CorruptGzip) || error.partAt === null) throw error;
      yield* withoutFirst(given, inflate(again(), error.partAt));
    }
  } finally {
    await iterator.return?.();
  }
}

async function* withoutFirst(bytes: number, pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  let left = bytes;
  for await (const piece of pieces) {
    if (piece.length > left) yield piece.subarray(left);
    left = Math.max(0, left - piece.length);
  }
}

async function* joined(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer, void> {
  yield first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

/**
 * Writes small parts one by one and collects what each gives, rather than piping: an error then never overtakes
 * output that came before it, and the same file gives the same bytes on every reading. From the offset `bytewiseFrom`
 * of the file on, each byte is a part.
 */
async function* inflate(pieces: AsyncIterable<Buffer>, bytewiseFrom: number): AsyncGenerator<Buffer, void> {
  const gunzip = createGunzip({ chunkSize: PIECE_BYTES });
  const output: Buffer[] = [];
  let failure: unknown = null;
  gunzip.on('data', (piece: Buffer) => output.push(piece));
  gunzip.on('error', (error) => (failure = error));
  let offset = 0;
  try {
    for await (const piece of pieces) {
      for (let at = 0; at < piece.length;) {
        const part = piece.subarray(at, at + (offset < bytewiseFrom ? DEFLATED_BYTES : 1));
        await settled(gunzip, (done) => gunzip.write(part, done));
        yield* output.splice(0);
        if (failure !== null) throw new CorruptGzip(offset, failure);
        at += part.length;
        offset += part.length;
      }
    }
    await settled(gunzip, (done) => gunzip.once('end', done).end());
    yield* output.splice(0);
    if (failure !== null) throw new CorruptGzip(null, failure);
  } finally {
    gunzip.destroy();
  }
}

/** Waits for what `start` begins, or for the end of the stream: one that fails leaves what was begun unanswered. */
async function settled(stream: Gunzip, start: (done: () => void) => void): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      stream.off('close', done);
      resolve();
    };
    stream.once('close', done);
    start(done);
  });
}
