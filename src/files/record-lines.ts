import { FileTooLarge, openFile } from './open-file.ts';

const CHUNK_BYTES = 1024 * 1024;
const SMALL_CHUNK_BYTES = 4096;
const NEWLINE = 0x0a;
/** The longest that we write has a number for each of some million sources. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

export interface RecordLinesOptions {
  readonly signal: AbortSignal;
  /** Read only the first so many bytes; default: to the end. */
  readonly bytes?: number;
  /** Begin at this byte, which is the first of a line; default: 0. */
  readonly from?: number;
}

/**
 * The complete lines of one of a run's own append-only files, without their newlines, in batches. What follows the
 * last newline is a line that is being written, or was torn off by a crash: it is not given. Memory is one chunk and
 * the longest line. A file that does not exist rejects with the system's ENOENT, one that is no ordinary file with
 * NotAnOrdinaryFile, one with a line of more than 64 MiB with FileTooLarge.
 */
export async function* readRecordLines(
  path: string,
  options: RecordLinesOptions,
): AsyncGenerator<Buffer[], void> {
  const handle = await openFile(path, 'refuse');
  try {
    let at = options.from ?? 0;
    let left = (options.bytes ?? Number.POSITIVE_INFINITY) - at;
    // Most files of a small run fit a small chunk; one that grows while it is read is still read to its end.
    const { size } = await handle.stat();
    const chunkBytes = Math.min(CHUNK_BYTES, Math.max(SMALL_CHUNK_BYTES, size - at + 1));
    let carry: Buffer[] = [];
    let carried = 0;
    while (left > 0) {
      options.signal.throwIfAborted();
      const target = Buffer.allocUnsafe(Math.min(chunkBytes, left));
      const { bytesRead } = await handle.read(target, 0, target.length, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      left -= bytesRead;
      const chunk = target.subarray(0, bytesRead);
      const lines: Buffer[] = [];
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        const piece = chunk.subarray(start, end);
        lines.push(carry.length === 0 ? piece : Buffer.concat([...carry, piece]));
        carry = [];
        carried = 0;
        start = end + 1;
      }
      if (start < chunk.length) {
        carry.push(chunk.subarray(start));
        carried += chunk.length - start;
        if (carried > MAX_LINE_BYTES) throw new FileTooLarge(path, MAX_LINE_BYTES);
      }
      if (lines.length > 0) yield lines;
    }
  } finally {
    await handle.close();
  }
}
