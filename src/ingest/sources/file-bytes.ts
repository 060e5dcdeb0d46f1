import { stat } from 'node:fs/promises';
import { createGunzip, type Gunzip } from 'node:zlib';
import { Failure } from '../../domain/failure.ts';
import { decodePath } from '../../domain/file-path.ts';
import { hasMagicBytes } from '../../domain/magic-bytes.ts';
import { isObjectPath } from '../../domain/object-path.ts';
import { type RangeReader, readFully } from '../../files/read-fully.ts';
import { headObject } from '../objects/object-client.ts';
import type { FileSnapshot } from './sources-file.ts';

const PIECE_BYTES = 256 * 1024;

/**
 * Compressed bytes inflated at a time. DEFLATE expands at most about 1000 times, which bounds the output of one step.
 */
const DEFLATED_BYTES = 8 * 1024;

/**
 * State of the file or object at an encoded path, to detect changes later. Zeros if it cannot be determined: reading
 * the file reports the error. Failure('service') if the object store does not answer.
 */
export async function snapshotFile(path: string, signal: AbortSignal): Promise<FileSnapshot> {
  try {
    if (isObjectPath(path)) return await headObject(path, signal);
    const stats = await stat(decodePath(path));
    return { bytes: stats.size, mtime_ms: stats.mtimeMs, ctime_ms: stats.ctimeMs, inode: stats.ino };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Failure) throw error;
    return { bytes: 0, mtime_ms: 0, ctime_ms: 0, inode: 0 };
  }
}

/**
 * Whether a file is still the one of the snapshot: same size, times and inode, or same ETag and version. A new mode,
 * name or hard link changes the file's ctime as a write does, so it counts as a change: nothing else shows a write
 * whose mtime was put back.
 */
export function matchesSnapshot(now: FileSnapshot, source: FileSnapshot): boolean {
  return (
    now.bytes === source.bytes &&
    now.mtime_ms === source.mtime_ms &&
    now.ctime_ms === source.ctime_ms &&
    now.inode === source.inode &&
    now.object?.etag === source.object?.etag &&
    now.object?.version === source.object?.version
  );
}

/** Like `matchesSnapshot`, for the file at its path; false if its state cannot be determined. */
export async function fileUnchanged(
  file: FileSnapshot & { readonly absolute: string },
  signal: AbortSignal,
): Promise<boolean> {
  return matchesSnapshot(await snapshotFile(file.absolute, signal), file);
}

/**
 * The first `limit` bytes of an open file, or all if there are fewer, in pieces. Calls `observe` with each piece before
 * yielding it.
 */
export async function* fileBytes(
  file: RangeReader,
  limit: number,
  signal: AbortSignal,
  observe: (piece: Buffer) => void = () => {},
): AsyncGenerator<Buffer, void> {
  for (let position = 0; position < limit;) {
    signal.throwIfAborted();
    const piece = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, limit - position));
    const read = await readFully(file, piece, position);
    if (read.length === 0) return;
    position += read.length;
    observe(read);
    yield read;
    if (read.length < piece.length) return;
  }
}

/**
 * Thrown for a damaged or truncated gzip file. The part before the damage was yielded, except the last few kilobytes.
 */
export class CorruptGzip extends Error {
  override readonly name = 'CorruptGzip';

  constructor(cause: unknown) {
    super('the gzip data does not inflate', { cause });
  }
}

/** The pieces unchanged, or inflated if they are a gzip file. */
export async function* inflateIfGzip(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  const iterator = pieces[Symbol.asyncIterator]();
  try {
    const first = await iterator.next();
    if (first.done === true) return;
    const all = prepend(first.value, iterator);
    yield* hasMagicBytes(first.value, 'gzip') ? inflate(all) : all;
  } finally {
    await iterator.return?.();
  }
}

async function* prepend(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer, void> {
  yield first;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

/**
 * Writes small parts one by one and collects the output of each, instead of piping: an error then never overtakes
 * earlier output, so the same file always yields the same bytes.
 */
async function* inflate(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
  const gunzip = createGunzip({ chunkSize: PIECE_BYTES });
  const output: Buffer[] = [];
  let failure: unknown = null;
  gunzip.on('data', (piece: Buffer) => output.push(piece));
  gunzip.on('error', (error) => (failure = error));
  try {
    for await (const piece of pieces) {
      for (let at = 0; at < piece.length; at += DEFLATED_BYTES) {
        const part = piece.subarray(at, at + DEFLATED_BYTES);
        await awaitStep(gunzip, (done) => gunzip.write(part, done));
        yield* output.splice(0);
        if (failure !== null) throw new CorruptGzip(failure);
      }
    }
    await awaitStep(gunzip, (done) => gunzip.once('end', done).end());
    yield* output.splice(0);
    if (failure !== null) throw new CorruptGzip(failure);
  } finally {
    gunzip.destroy();
  }
}

/** Waits for the callback of `start`, or for the stream to close: a stream that fails never calls back. */
async function awaitStep(stream: Gunzip, start: (done: () => void) => void): Promise<void> {
  await new Promise<void>((resolve) => {
    const done = (): void => {
      stream.off('close', done);
      resolve();
    };
    stream.once('close', done);
    start(done);
  });
}
