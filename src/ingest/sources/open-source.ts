import { createHash, type Hash } from 'node:crypto';
import type { Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { beginsWith } from '../../domain/magic-bytes.ts';
import { chooseDecoder, type Decoder } from '../../formats/encoding/decoder.ts';
import { FittingDecoder } from '../../formats/encoding/fitting-decoder.ts';
import { fileBytes, inflateIfGzip } from './file-bytes.ts';
import { type FilePlace, openPlace } from './file-place.ts';

/** Bytes looked at before a file is read: enough to tell its layout and its columns. */
const HEAD_BYTES = 256 * 1024;

/** The beginning of a file, inflated. */
export interface SourceHead {
  /** As the file has it. */
  readonly raw: Buffer;
  /** In UTF-8, without a byte order mark. */
  readonly text: Buffer;
  /** Whether that is all of the file. */
  readonly isComplete: boolean;
  /** The encoding that was named and in which it is read, a WHATWG label; null: UTF-8, or the one its mark says. */
  readonly encoding: string | null;
}

/** The encoding that files are said to be in. */
export interface NamedEncoding {
  /** A WHATWG label. */
  readonly label: string;
  /** Whether it was said of many files: then it holds for those whose bytes are not UTF-8. */
  readonly ifFitting: boolean;
}

/** What is gathered from the bytes of a file as it has them, compressed or not, while they are read. */
interface Stored {
  isCompressed: boolean;
  /** Of all bytes so far; null once nobody can ask for the hash of the file. */
  hash: Hash | null;
}

/** A file open for reading, once, from its beginning. */
export class OpenSource {
  readonly handle: FileHandle;
  /** What it was when it was opened: so many bytes of it are read. */
  readonly stats: Stats;
  readonly #pieces: AsyncGenerator<Buffer, void>;
  readonly #stored: Stored;
  readonly #again: () => AsyncGenerator<Buffer, void>;
  #decoder: Decoder | null = null;
  /** The head as the file has it, and a decoder to which nothing was given yet. */
  #restart: (() => { readonly head: Buffer; readonly decoder: Decoder }) | null = null;
  /** Set when the head is all there is: the end of the file, or what kept us from it. */
  #outcome: { readonly failure?: Error } | null = null;

  private constructor(
    handle: FileHandle,
    stats: Stats,
    pieces: AsyncGenerator<Buffer, void>,
    again: () => AsyncGenerator<Buffer, void>,
    stored: Stored,
  ) {
    this.handle = handle;
    this.stats = stats;
    this.#pieces = pieces;
    this.#again = again;
    this.#stored = stored;
  }

  /** `onBytes` is told how many bytes of the file were read so far. Rejects as `openPlace` does. */
  static async open(
    place: FilePlace,
    signal: AbortSignal,
    onBytes?: (bytesReadSoFar: number) => void,
  ): Promise<OpenSource> {
    const handle = await openPlace(place);
    const stats = await handle.stat();
    const stored: Stored = { isCompressed: false, hash: createHash('sha256') };
    let bytesRead = 0;
    const observe = (piece: Buffer): void => {
      if (bytesRead === 0) stored.isCompressed = beginsWith(piece, 'gzip');
      bytesRead += piece.length;
      stored.hash?.update(piece);
      onBytes?.(bytesRead);
    };
    const unobserved = () => fileBytes(handle, stats.size, signal);
    const pieces = inflateIfGzip(fileBytes(handle, stats.size, signal, observe), unobserved);
    const again = () => inflateIfGzip(unobserved(), unobserved);
    return new OpenSource(handle, stats, pieces, again, stored);
  }

  /**
   * Reads the head and settles the encoding. Call it once, first. What goes wrong after the first bytes is thrown by
   * `rest`, so that nothing that could be read is lost. Throws CorruptGzip, or what the file system throws.
   */
  async head(encoding: NamedEncoding | null): Promise<SourceHead> {
    const pieces: Buffer[] = [];
    let bytes = 0;
    while (bytes < HEAD_BYTES && this.#outcome === null) {
      const piece = await this.#next();
      if (piece === null) break;
      pieces.push(piece);
      bytes += piece.length;
    }
    if (bytes === 0 && this.#outcome?.failure !== undefined) throw this.#outcome.failure;
    const raw = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
    const newFitting = (): FittingDecoder | null =>
      encoding?.ifFitting === true ? new FittingDecoder(encoding.label, raw) : null;
    const newDecoder = (): Decoder => chooseDecoder(encoding?.label ?? null, raw);
    this.#restart = () => ({ head: raw, decoder: newFitting() ?? newDecoder() });
    const fitting = newFitting();
    this.#decoder = fitting ?? newDecoder();
    const start = this.#decoder.write(raw);
    const isComplete = this.#outcome !== null && this.#outcome.failure === undefined;
    const text = isComplete ? Buffer.concat([start, this.#decoder.end()]) : start;
    const applied = fitting === null ? (encoding?.label ?? null) : fitting.encoding;
    return { raw, text, isComplete, encoding: applied };
  }

  /** Whether the file is compressed, as far as its first bytes, which `head` reads, tell. */
  get isCompressed(): boolean {
    return this.#stored.isCompressed;
  }

  /**
   * Reads what follows the head. Returns the SHA-256 of the whole file as it is stored, in hex. `take` is given what follows
   * the head, in UTF-8. Throws as `head` does.
   */
  async hashRest(take: ((text: Buffer) => void) | null): Promise<string> {
    const hash = this.#stored.hash!;
    if (take !== null) {
      for await (const text of this.#restText()) take(text);
    } else {
      if (this.#outcome?.failure !== undefined) throw this.#outcome.failure;
      while ((await this.#pieces.next()).done !== true);
    }
    return hash.digest('hex');
  }

  /** What follows the head, in UTF-8. Throws as `head` does. */
  rest(): AsyncGenerator<Buffer, void> {
    this.#stored.hash = null;
    return this.#restText();
  }

  async *#restText(): AsyncGenerator<Buffer, void> {
    if (this.#outcome !== null) {
      if (this.#outcome.failure !== undefined) throw this.#outcome.failure;
      return;
    }
    const decoder = this.#decoder!;
    for await (const piece of this.#pieces) yield decoder.write(piece);
    yield decoder.end();
  }

  /** The file once more, in UTF-8, from a byte of that on. Nobody observes it. Throws as `head` does. */
  async *again(from: number): AsyncGenerator<Buffer, void> {
    const { head, decoder } = this.#restart!();
    let left = from;
    const behind = (piece: Buffer): Buffer => {
      const skipped = Math.min(left, piece.length);
      left -= skipped;
      return piece.subarray(skipped);
    };
    // The decoder is given the same head, since it may judge by that.
    yield behind(decoder.write(head));
    let passed = head.length;
    for await (const piece of this.#again()) {
      const known = Math.min(passed, piece.length);
      passed -= known;
      if (known < piece.length) yield behind(decoder.write(piece.subarray(known)));
    }
    yield behind(decoder.end());
  }

  async #next(): Promise<Buffer | null> {
    try {
      const next = await this.#pieces.next();
      if (next.done !== true) return next.value;
      this.#outcome = {};
    } catch (error) {
      this.#outcome = {
        failure: error instanceof Error ? error : new Error('reading failed', { cause: error }),
      };
    }
    return null;
  }

  async close(): Promise<void> {
    await this.#pieces.return();
    await this.handle.close();
  }
}
