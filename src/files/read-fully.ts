import type { FileHandle } from 'node:fs/promises';

/**
 * Reads from byte `position` of a file until `target` is full or the file ends: one `read` may return less than was asked
 * for. Returns the part of `target` that was filled; it is shorter than `target` only at the end of the file.
 */
export async function readFully(handle: FileHandle, target: Buffer, position: number): Promise<Buffer> {
  let filled = 0;
  while (filled < target.length) {
    const { bytesRead } = await handle.read(target, filled, target.length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled === target.length ? target : target.subarray(0, filled);
}
