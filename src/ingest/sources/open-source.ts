import { createHash } from 'node:crypto';
import { hasMagicBytes } from '../../domain/magic-bytes.ts';
import { chooseDecoder, type Decoder, encodingByMark, markBytes } from '../../formats/encoding/decoder.ts';
import { isInFolderEncoding } from '../../formats/encoding/likely-encoding.ts';
import type { FileSnapshot } from './sources-file.ts';
import { fileBytes, inflateIfGzip, matchesSnapshot } from './file-bytes.ts';
import { type FileLocation, openPlace } from './file-place.ts';
import type { SourceFile } from './source-file.ts';

/** Inflated bytes that are read first to detect the layout and the columns of a file. */
const HEAD_BYTES = 256 * 1024;

/** The beginning of a file, inflated. */
export interface SourceHead {
  /** Inflated, before decoding. */
  readonly raw: Buffer;
  /** In UTF-8, without a byte order mark. */
  readonly text: Buffer;
  /** Whether the head is the whole file. */
  readonly isComplete: boolean;
  /** Whether the file is compressed as a whole. */
  readonly isCompressed: boolean;
  /** Offset of the text, after a byte order mark, in a file that is stored as UTF-8; null for any other file. */
  readonly textStart: number | null;
  /** WHATWG label of the named encoding that was applied; null for UTF-8 or the encoding of the byte order mark. */
  readonly encoding: string | null;
  /** Whether the file is read as UTF-8, rather than converted to it. */
  readonly isUtf8: boolean;
}

/** The encoding that the user named for a file or a folder. */
export interface NamedEncoding {
  /** A WHATWG label. */
  readonly label: string;
  /** Whether it was named for a folder or a glob; it then applies only to files whose head is not UTF-8. */
  readonly isForFolder: boolean;
}

/** Callbacks while a file is read for the first time. */
export interface SourceWatch {
  /** Takes the number of stored bytes read so far. */
  readonly onBytes?: ((bytesReadSoFar: number) => void) | undefined;
  /** Takes each stored piece, compressed or not. */
  readonly onStored?: (piece: Buffer) => void;
  /** Takes each piece of the content in UTF-8. */
  readonly onText?: (text: Buffer) => void;
}

/** Collected from the stored bytes of a file, compressed or not, as they are read. */
interface StoredBytes {
  isCompressed: boolean;
  /** SHA-256 over all bytes so far, to be called once; null once the file is read without `hashRest`. */
  sha256: (() => string) | null;
}

/** The inflated content of a file, in pieces. */
interface Pieces {
  readonly pieces: AsyncGenerator<Buffer, void>;
  /** Reads the same pieces again. */
  readonly again: () => AsyncGenerator<Buffer, void>;
  readonly stored: StoredBytes;
}

/** A file open for reading, once, from its beginning. */
export class OpenSource {
  readonly handle: SourceFile;
  /** State when it was opened; bytes appended since are not read. */
  readonly opened: FileSnapshot;
  readonly #pieces: AsyncGenerator<Buffer, void>;
  readonly #stored: StoredBytes;
  readonly #again: () => AsyncGenerator<Buffer, void>;
  readonly #onText: ((text: Buffer) => void) | undefined;
  #decoder: Decoder | null = null;
  /** The inflated head, and a fresh decoder. */
  #restart: (() => { readonly head: Buffer; readonly decoder: Decoder }) | null = null;
  /** Set when nothing follows the head: the file ended or reading failed. */
  #outcome: { readonly failure?: Error } | null = null;

  private constructor(
    handle: SourceFile,
    opened: FileSnapshot,
    { pieces, again, stored }: Pieces,
    onText: SourceWatch['onText'],
  ) {
    this.#onText = onText;
    this.handle = handle;
    this.opened = opened;
    this.#pieces = pieces;
    this.#again = again;
    this.#stored = stored;
  }

  /** Rejects as `openPlace` does. */
  static async open(
    place: FileLocation,
    signal: AbortSignal,
    { onBytes, onStored, onText }: SourceWatch = {},
  ): Promise<OpenSource> {
    const handle = await openPlace(place, signal);
    let opened: FileSnapshot;
    try {
      opened = handle.state();
    } catch (error) {
      await handle.close();
      throw error;
    }
    const hash = createHash('sha256');
    const stored: StoredBytes = { isCompressed: false, sha256: () => hash.digest('hex') };
    let bytesRead = 0;
    const observe = (piece: Buffer): void => {
      if (bytesRead === 0) stored.isCompressed = hasMagicBytes(piece, 'gzip');
      bytesRead += piece.length;
      if (stored.sha256 !== null) hash.update(piece);
      onBytes?.(bytesRead);
      onStored?.(piece);
    };
    const pieces = inflateIfGzip(fileBytes(handle, opened.bytes, signal, observe));
    const again = () => inflateIfGzip(fileBytes(handle, opened.bytes, signal));
    return new OpenSource(handle, opened, { pieces, again, stored }, onText);
  }

  /** Whether the file is unchanged since the snapshot, judging by its size and times, or its ETag. */
  matchesSnapshot(source: FileSnapshot): boolean {
    return matchesSnapshot(this.handle.state(), source);
  }

  /**
   * Reads the head and determines the encoding. Must be called first, once. Rejects with CorruptGzip or the system's
   * error; an error after the first bytes is thrown by `text`, so no readable content is lost.
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
    const applies = encoding !== null && (!encoding.isForFolder || isInFolderEncoding(raw, encoding.label));
    const label = applies ? encoding.label : null;
    this.#restart = () => ({ head: raw, decoder: chooseDecoder(label, raw) });
    this.#decoder = chooseDecoder(label, raw);
    const start = this.#decoder.write(raw);
    const isComplete = this.#outcome !== null && this.#outcome.failure === undefined;
    const text = isComplete ? Buffer.concat([start, this.#decoder.end()]) : start;
    const { isCompressed } = this.#stored;
    const marked = encodingByMark(raw);
    const isUtf8 = marked === 'utf-8' || (marked === null && label === null);
    const textStart = isUtf8 && !isCompressed ? markBytes(raw) : null;
    return {
      raw,
      text,
      isComplete,
      isCompressed,
      textStart,
      encoding: marked === null ? label : null,
      isUtf8,
    };
  }

  /** Whether the file is compressed, by its first bytes; known after `head`. */
  get isCompressed(): boolean {
    return this.#stored.isCompressed;
  }

  /**
   * Reads the rest of the file. Returns the SHA-256 of the whole file as stored, in hex. Passes the content after the
   * head to `take`, in UTF-8. Throws as `head` does.
   */
  async hashRest(take: ((text: Buffer) => void) | null): Promise<string> {
    const sha256 = this.#stored.sha256!;
    if (take !== null) {
      for await (const text of this.#rest()) take(text);
    } else {
      if (this.#outcome?.failure !== undefined) throw this.#outcome.failure;
      while ((await this.#pieces.next()).done !== true);
    }
    return sha256();
  }

  /** The whole content in UTF-8: the text of the head, which `head` returned, and the rest. Throws as `head` does. */
  async *text(head: SourceHead): AsyncGenerator<Buffer, void> {
    this.#stored.sha256 = null;
    this.#onText?.(head.text);
    yield head.text;
    for await (const text of this.#rest()) {
      this.#onText?.(text);
      yield text;
    }
  }

  async *#rest(): AsyncGenerator<Buffer, void> {
    if (this.#outcome !== null) {
      if (this.#outcome.failure !== undefined) throw this.#outcome.failure;
      return;
    }
    const decoder = this.#decoder!;
    for await (const piece of this.#pieces) yield decoder.write(piece);
    yield decoder.end();
  }

  /** Reads the file again, in UTF-8, from offset `from` in that text. Throws as `head` does. */
  async *reread(from: number): AsyncGenerator<Buffer, void> {
    const { head, decoder } = this.#restart!();
    let toSkip = from;
    const unskipped = (piece: Buffer): Buffer => {
      const skipped = Math.min(toSkip, piece.length);
      toSkip -= skipped;
      return piece.subarray(skipped);
    };
    yield unskipped(decoder.write(head));
    let headLeft = head.length;
    for await (const piece of this.#again()) {
      const known = Math.min(headLeft, piece.length);
      headLeft -= known;
      if (known < piece.length) yield unskipped(decoder.write(piece.subarray(known)));
    }
    yield unskipped(decoder.end());
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
