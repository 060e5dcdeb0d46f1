/** Something that is read by byte ranges: a FileHandle, or an object in object storage. */
export interface RangeReader {
  /** Reads up to `length` bytes from `position` into `target` at `offset`; reads none at the end. */
  read(
    target: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>;
}

/**
 * Reads from byte `position` of a file until `target` is full or the file ends, because a single `read` may return
 * fewer bytes than requested. Returns the filled part of `target`, which is shorter than `target` only at the end of
 * the file.
 */
export async function readFully(handle: RangeReader, target: Buffer, position: number): Promise<Buffer> {
  let filled = 0;
  while (filled < target.length) {
    const { bytesRead } = await handle.read(target, filled, target.length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return filled === target.length ? target : target.subarray(0, filled);
}

export interface FileSpan {
  readonly offset: number;
  readonly bytes: number;
}

/** Spans that begin within this many bytes are read together. */
const WINDOW_BYTES = 64 * 1024;
const READS_IN_FLIGHT = 16;

/**
 * Reads spans of a file, given in ascending order of offset, in few reads. Null for a span that is not entirely in the
 * file. The whole result is held in memory.
 */
export async function readSpans(file: RangeReader, spans: readonly FileSpan[]): Promise<(Buffer | null)[]> {
  const found = new Array<Buffer | null>(spans.length).fill(null);
  const windows = windowsOf(spans);
  const reader = async (): Promise<void> => {
    for (;;) {
      const next = windows.next();
      if (next.done === true) return;
      const [first, end] = next.value;
      const { offset: start } = spans[first]!;
      const last = spans[end - 1]!;
      const bytes = await readFully(file, Buffer.allocUnsafe(last.offset + last.bytes - start), start);
      for (let index = first; index < end; index++) {
        const { offset, bytes: length } = spans[index]!;
        const to = offset - start + length;
        if (to <= bytes.length) found[index] = bytes.subarray(offset - start, to);
      }
    }
  };
  await Promise.all(Array.from({ length: READS_IN_FLIGHT }, reader));
  return found;
}

/** Ranges of adjacent spans to read together; the second index is exclusive. */
function* windowsOf(spans: readonly FileSpan[]): Generator<readonly [number, number]> {
  for (let first = 0; first < spans.length;) {
    const limit = spans[first]!.offset + WINDOW_BYTES;
    let end = first + 1;
    while (end < spans.length && spans[end]!.offset + spans[end]!.bytes <= limit) end++;
    yield [first, end];
    first = end;
  }
}
