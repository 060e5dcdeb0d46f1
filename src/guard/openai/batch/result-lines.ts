import type { Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';

const CHUNK_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;

/** A longer line is skipped: an answer with the most alternatives a token takes a quarter of it. */
const MAX_LINE_BYTES = 2 * 1024 * 1024;

export interface ResultLine {
  /** Where it begins in the file. */
  readonly offset: number;
  /** Without its line break; null for a line that is too long. */
  readonly bytes: Buffer | null;
}

/** The lines of an open file that are not blank, many at a time; `hash` takes all its bytes. Memory is bounded whatever it holds. */
export async function* readResultLines(
  file: FileHandle,
  hash: Hash,
  signal: AbortSignal,
): AsyncGenerator<readonly ResultLine[], void> {
  let at = 0;
  let offset = 0;
  let carry: Buffer[] = [];
  let carried = 0;
  const end = (piece: Buffer): ResultLine[] => {
    const isLong = carried + piece.length > MAX_LINE_BYTES;
    const bytes = isLong ? null : Buffer.concat([...carry, piece]);
    const line = { offset, bytes };
    offset += carried + piece.length + 1;
    carry = [];
    carried = 0;
    return bytes?.toString('latin1').trim() === '' ? [] : [line];
  };
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES, at);
    if (bytesRead === 0) break;
    at += bytesRead;
    const chunk = buffer.subarray(0, bytesRead);
    hash.update(chunk);
    const lines: ResultLine[] = [];
    let start = 0;
    for (let next = chunk.indexOf(NEWLINE); next !== -1; next = chunk.indexOf(NEWLINE, start)) {
      lines.push(...end(chunk.subarray(start, next)));
      start = next + 1;
    }
    if (start < chunk.length) {
      carried += chunk.length - start;
      if (carried > MAX_LINE_BYTES) carry = [];
      else carry.push(chunk.subarray(start));
    }
    yield lines;
  }
  if (carried > 0) yield end(Buffer.alloc(0));
}
