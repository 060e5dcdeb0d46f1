import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { openFile } from './open-file.ts';
import { readFully } from './read-fully.ts';

const CHUNK_BYTES = 256 * 1024;

interface HashOptions {
  readonly signal: AbortSignal;
  /** Number of bytes to hash from the start; default: the size of the file when it is opened. */
  readonly bytes?: number;
}

/** Hash of a file's bytes, and the number of bytes hashed. */
export interface HashedFile {
  /** 64 hex digits. */
  readonly sha256: string;
  readonly bytes: number;
}

/**
 * Hashes a file's first bytes with SHA-256. Does not follow a link in the last part of the path. Rejects as `openFile`
 * does, with the system's error if the file cannot be read, or with the signal's reason.
 */
export async function hashFile(path: string | Buffer, options: HashOptions): Promise<HashedFile> {
  const handle = await openFile(path, 'refuse');
  try {
    return await hashOpenFile(handle, options);
  } finally {
    await handle.close();
  }
}

async function hashOpenFile(handle: FileHandle, { signal, bytes }: HashOptions): Promise<HashedFile> {
  signal.throwIfAborted();
  const { size } = await handle.stat();
  // Limited to the initial size, because a file that keeps growing would never end.
  const limit = Math.min(size, bytes ?? size);
  const hash = createHash('sha256');
  const target = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, limit));
  let at = 0;
  while (at < limit) {
    const chunk = await readFully(handle, target.subarray(0, Math.min(CHUNK_BYTES, limit - at)), at);
    signal.throwIfAborted();
    if (chunk.length === 0) break;
    hash.update(chunk);
    at += chunk.length;
  }
  return { sha256: hash.digest('hex'), bytes: at };
}
