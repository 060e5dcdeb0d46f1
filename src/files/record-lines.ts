import { FileTooLargeError, openFile } from './open-file.ts';

const CHUNK_BYTES = 1024 * 1024;
const SMALL_CHUNK_BYTES = 4096;
const NEWLINE = 0x0a;
/** The longest line contains one number per source, for a few million sources. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;

interface RecordLinesOptions {
  readonly signal: AbortSignal;
  /** Where to stop, as an offset in bytes; default: the end of the file. */
  readonly bytes?: number;
  /** Where to start, as an offset in bytes; it must be the start of a line. Default: 0. */
  readonly from?: number;
}

/**
 * Yields the complete lines of one of a run's own append-only files, in batches, without their newlines. Bytes after
 * the last newline belong to a line that is being written or was torn by a crash, and are not returned. Memory is
 * bounded by one chunk and the longest line. Rejects with ENOENT for a missing file, with NotRegularFileError for
 * anything but a regular file, and with FileTooLargeError for a line of more than 64 MiB.
 */
export async function* readRecordLines(
  path: string,
  options: RecordLinesOptions,
): AsyncGenerator<Buffer[], void> {
  const handle = await openFile(path, 'refuse');
  try {
    let at = options.from ?? 0;
    let left = (options.bytes ?? Number.POSITIVE_INFINITY) - at;
    // Most files of a small run fit into a small chunk. A file that grows in the meantime is still read to its end.
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
        if (carried > MAX_LINE_BYTES) throw new FileTooLargeError(path, MAX_LINE_BYTES);
      }
      if (lines.length > 0) yield lines;
    }
  } finally {
    await handle.close();
  }
}
