import { open } from 'node:fs/promises';
import { systemPath } from '../domain/file-path.ts';
import { hashFile } from '../ingest/hash-file.ts';
import type { FrozenSource } from '../ingest/plan-line.ts';

/** SHA-256 of a source as it was when the run was created; null when it cannot be read or has changed since. */
export async function hashSource(source: FrozenSource, signal: AbortSignal): Promise<string | null> {
  try {
    const handle = await open(systemPath(source.absolute), 'r');
    try {
      const { size, mtimeMs, ino } = await handle.stat();
      if (size !== source.bytes || mtimeMs !== source.mtime_ms || ino !== source.inode) return null;
    } finally {
      await handle.close();
    }
    const { sha256, bytes } = await hashFile(systemPath(source.absolute), { signal });
    return bytes === source.bytes ? sha256 : null;
  } catch {
    signal.throwIfAborted();
    return null;
  }
}
