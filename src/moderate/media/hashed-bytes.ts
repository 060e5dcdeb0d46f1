import { createHash } from 'node:crypto';
import { itemError, type ItemError } from '../../domain/item-error.ts';
import type { MediaFile } from '../../domain/request.ts';
import { readFully } from '../../files/read-fully.ts';
import { matchesSnapshot } from '../../ingest/sources/file-bytes.ts';
import type { SourceFile } from '../../ingest/sources/source-file.ts';
import type { FileSnapshot } from '../../ingest/sources/sources-file.ts';

const PIECE_BYTES = 1024 * 1024;

const CHANGED = itemError('SOURCE_CHANGED', 'the file is not the one that was planned');

/** Reads the bytes of a file if they are as planned. */
export async function readPlanned(
  handle: SourceFile,
  file: MediaFile,
  signal: AbortSignal,
): Promise<Buffer | ItemError> {
  const bytes = Buffer.allocUnsafeSlow(file.bytes);
  return (await hashInto(handle, file, (at) => bytes.subarray(at, at + PIECE_BYTES), signal)) ?? bytes;
}

/** Reads a file once and checks that it is as planned; null if it is. */
export async function checkPlanned(
  handle: SourceFile,
  file: MediaFile,
  signal: AbortSignal,
): Promise<ItemError | null> {
  const piece = Buffer.allocUnsafe(Math.min(PIECE_BYTES, file.bytes));
  return hashInto(handle, file, (at) => piece.subarray(0, Math.min(piece.length, file.bytes - at)), signal);
}

async function hashInto(
  handle: SourceFile,
  file: MediaFile,
  targetAt: (position: number) => Buffer,
  signal: AbortSignal,
): Promise<ItemError | null> {
  if (handle.state().bytes !== file.bytes) return CHANGED;
  const hash = createHash('sha256');
  for (let position = 0; position < file.bytes;) {
    signal.throwIfAborted();
    const target = targetAt(position);
    const read = await readFully(handle, target, position);
    if (read.length < target.length) return CHANGED;
    hash.update(read);
    position += read.length;
  }
  return hash.digest('hex') === file.sha256 ? null : CHANGED;
}

/** The error of a file that was written to while it was decoded; null if it is unchanged since an earlier state. */
export function changedSince(state: FileSnapshot, handle: SourceFile): ItemError | null {
  return matchesSnapshot(handle.state(), state) ? null : CHANGED;
}
