import { createHash } from 'node:crypto';
import { read } from 'node:fs';
import { promisify } from 'node:util';

const CHUNK_BYTES = 1024 * 1024;

/** The hash of a file's bytes, and how many were hashed. */
export interface HashedFile {
  /** 64 hex digits. */
  readonly sha256: string;
  readonly bytes: number;
}

/** The first bytes of an open file. */
export interface HashTask {
  /** The file's descriptor. The caller keeps it open until the hash is there. */
  readonly fd: number;
  /** Number of bytes to hash at most. */
  readonly limit: number;
}

const readAt = promisify(read);

/** SHA-256 of a file's first `limit` bytes. Rejects with the system's error, or the signal's reason. */
export async function hashBytes({ fd, limit }: HashTask, signal: AbortSignal): Promise<HashedFile> {
  const hash = createHash('sha256');
  const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, limit + 1));
  let bytes = 0;
  while (bytes < limit) {
    signal.throwIfAborted();
    const { bytesRead } = await readAt(fd, chunk, 0, Math.min(chunk.length, limit - bytes), bytes);
    if (bytesRead === 0) break;
    hash.update(chunk.subarray(0, bytesRead));
    bytes += bytesRead;
  }
  return { sha256: hash.digest('hex'), bytes };
}
