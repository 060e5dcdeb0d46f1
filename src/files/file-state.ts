import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';

/** What tells that a file is the one that was read before. */
export interface FileState extends Pick<BigIntStats, 'dev' | 'ino' | 'size' | 'mtimeNs' | 'ctimeNs'> {
  /** When the file was looked at, in milliseconds since 1970. */
  readonly seenMs: number;
}

/** The state of an open file now. */
export async function fileState(handle: FileHandle): Promise<FileState> {
  const seenMs = Date.now();
  const { dev, ino, size, mtimeNs, ctimeNs } = await handle.stat({ bigint: true });
  return { dev, ino, size, mtimeNs, ctimeNs, seenMs };
}

/** Whether nothing was written to the file between two looks at it, as far as its times tell. */
export function isSameState(a: FileState, b: FileState): boolean {
  return (
    a.dev === b.dev &&
    a.ino === b.ino &&
    a.size === b.size &&
    a.mtimeNs === b.mtimeNs &&
    a.ctimeNs === b.ctimeNs
  );
}
