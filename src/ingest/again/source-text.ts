import type { FileHandle } from 'node:fs/promises';
import { readFully } from '../../files/read-fully.ts';
import type { OpenSource } from '../sources/open-source.ts';

/** The UTF-8 text of an open file, readable from any offset. */
export interface SourceText {
  from(offset: number): AsyncGenerator<Buffer, void>;
}

const FIRST_PIECE_BYTES = 64 * 1024;
const MAX_PIECE_BYTES = 1024 * 1024;

/** A file whose bytes are its text, behind a byte order mark of `markBytes`. Pieces begin small: most readings are short. */
export function plainText(
  handle: FileHandle,
  { markBytes, signal }: { readonly markBytes: number; readonly signal: AbortSignal },
): SourceText {
  return {
    async *from(offset) {
      let position = markBytes + offset;
      for (let bytes = FIRST_PIECE_BYTES; ; bytes = Math.min(2 * bytes, MAX_PIECE_BYTES)) {
        signal.throwIfAborted();
        const piece = await readFully(handle, Buffer.allocUnsafeSlow(bytes), position);
        position += piece.length;
        if (piece.length > 0) yield piece;
        if (piece.length < bytes) return;
      }
    },
  };
}

/** Bytes that are kept before and behind an offset that was asked for. */
const KEPT_BEFORE_BYTES = 512 * 1024;
const KEPT_BYTES = 1024 * 1024;

/** A stretch of the text of a file. */
interface Stretch {
  readonly file: string;
  readonly start: number;
  readonly bytes: Buffer;
}

/** The stretches of text around what was read last, of files that can only be read from their beginning. */
export class RecentText {
  readonly #maxStretches: number;
  /** The least recently used first. */
  #stretches: Stretch[] = [];

  constructor(maxStretches = 8) {
    this.#maxStretches = maxStretches;
  }

  /** The stretch that holds an offset; null if there is none. */
  find(file: string, offset: number): Stretch | null {
    const found = this.#stretches.findLast(
      ({ file: of, start, bytes }) => of === file && start <= offset && offset < start + bytes.length,
    );
    if (found === undefined) return null;
    this.#stretches = [...this.#stretches.filter((stretch) => stretch !== found), found];
    return found;
  }

  add(stretch: Stretch): void {
    this.#stretches = [...this.#stretches, stretch].slice(-this.#maxStretches);
  }
}

/**
 * A file that is compressed or not in UTF-8: it is inflated or decoded from its beginning, but not parsed, up to the
 * offset. `file` names it in `recent`.
 */
export function decodedText(
  opened: Pick<OpenSource, 'again'>,
  { file, recent }: { readonly file: string; readonly recent: RecentText },
): SourceText {
  return {
    async *from(offset) {
      const stretch = recent.find(file, offset);
      if (stretch !== null) {
        yield stretch.bytes.subarray(offset - stretch.start);
        yield* opened.again(stretch.start + stretch.bytes.length);
        return;
      }
      const start = Math.max(0, offset - KEPT_BEFORE_BYTES);
      const pieces = opened.again(start);
      try {
        const bytes = await firstBytes(pieces, KEPT_BYTES);
        recent.add({ file, start, bytes: Buffer.from(bytes.subarray(0, KEPT_BYTES)) });
        if (bytes.length > offset - start) yield bytes.subarray(offset - start);
        yield* pieces;
      } finally {
        await pieces.return();
      }
    },
  };
}

/** At least `count` bytes, unless there are fewer. */
async function firstBytes(pieces: AsyncGenerator<Buffer, void>, count: number): Promise<Buffer> {
  const first: Buffer[] = [];
  for (let bytes = 0; bytes < count;) {
    const next = await pieces.next();
    if (next.done === true) break;
    // An empty piece would keep the memory of the one that it was cut from.
    if (next.value.length > 0) first.push(next.value);
    bytes += next.value.length;
  }
  return Buffer.concat(first);
}
