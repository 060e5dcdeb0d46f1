import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { FrozenSource } from '../ingest/plan-line.ts';

const CHUNK_BYTES = 1024 * 1024;

/**
 * SHA-256 (64 hex digits) of a file's first so many bytes, default all, and how many were there. Rejects with the
 * system's error when the file cannot be read.
 */
export async function hashFile(
  path: string,
  options: { readonly signal: AbortSignal; readonly bytes?: number },
): Promise<{ sha256: string; bytes: number }> {
  const handle = await open(path, 'r');
  try {
    const hash = createHash('sha256');
    const limit = options.bytes ?? Number.POSITIVE_INFINITY;
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, (await handle.stat()).size + 1));
    let bytes = 0;
    while (bytes < limit) {
      options.signal.throwIfAborted();
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

/** SHA-256 of a source as it was when the run was created; null when it cannot be read or has changed since. */
export async function hashSource(source: FrozenSource, signal: AbortSignal): Promise<string | null> {
  try {
    const handle = await open(source.absolute, 'r');
    try {
      const { size, mtimeMs, ino } = await handle.stat();
      if (size !== source.bytes || mtimeMs !== source.mtime_ms || ino !== source.inode) return null;
    } finally {
      await handle.close();
    }
    const { sha256, bytes } = await hashFile(source.absolute, { signal });
    return bytes === source.bytes ? sha256 : null;
  } catch {
    signal.throwIfAborted();
    return null;
  }
}
