import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';

const CHUNK_BYTES = 1024 * 1024;

/** What a file's bytes hash to, and how many there were. */
export interface HashedFile {
  /** 64 hex digits. */
  readonly sha256: string;
  readonly bytes: number;
}

/** SHA-256 of a file's first `limit` bytes. Rejects with the system's error, or the signal's reason. */
export async function hashBytes(
  path: string | Uint8Array,
  limit: number,
  signal: AbortSignal,
): Promise<HashedFile> {
  const handle = await open(typeof path === 'string' ? path : Buffer.from(path), 'r');
  try {
    const hash = createHash('sha256');
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, (await handle.stat()).size + 1));
    let bytes = 0;
    while (bytes < limit) {
      signal.throwIfAborted();
      const { bytesRead } = await handle.read(chunk, 0, Math.min(chunk.length, limit - bytes), null);
      if (bytesRead === 0) break;
      hash.update(chunk.subarray(0, bytesRead));
      bytes += bytesRead;
    }
    return { sha256: hash.digest('hex'), bytes };
  } finally {
    await handle.close();
  }
}
