import type { FileHandle } from 'node:fs/promises';
import { itemError } from '../../domain/item-error.ts';
import { writeAt } from '../../files/durable-write.ts';
import { openUnnamedFile } from '../../files/unnamed-file.ts';
import type { SourceFile } from '../sources/source-file.ts';
import type { FileSnapshot } from '../sources/sources-file.ts';
import { getRange } from './object-client.ts';
import { ObjectError } from './object-error.ts';

/** Bytes of the first range; each sequential range is twice as long as the last, up to the limit. */
const FIRST_BYTES = 256 * 1024;
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * Max size of an object to copy to disk for a process that reads files: Parquet, archives, documents and audio clips.
 */
const MAX_COPY_BYTES = 4 * 1024 * 1024 * 1024;

/**
 * An object that is read by ranges, the last of which is cached. All belong to the version that was opened: a range of
 * another one rejects with ObjectError.
 */
export class ObjectFile implements SourceFile {
  readonly local = null;
  readonly #path: string;
  readonly #state: FileSnapshot;
  readonly #signal: AbortSignal;
  #range: Buffer;
  #start = 0;
  #copy: Promise<FileHandle> | null = null;

  private constructor(path: string, state: FileSnapshot, first: Buffer, signal: AbortSignal) {
    this.#path = path;
    this.#state = state;
    this.#range = first;
    this.#signal = signal;
  }

  /** `path` is encoded. Every request ends when `signal` aborts. Rejects as `getRange` does. */
  static async open(path: string, signal: AbortSignal): Promise<ObjectFile> {
    const { bytes, state } = await getRange(path, { from: 0, to: FIRST_BYTES, of: null }, signal);
    return new ObjectFile(path, state, bytes, signal);
  }

  state(): FileSnapshot {
    return this.#state;
  }

  async read(
    target: Buffer,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }> {
    if (position >= this.#state.bytes || length === 0) return { bytesRead: 0 };
    const end = this.#start + this.#range.length;
    if (position < this.#start || position >= end) {
      const inOrder = position === end ? 2 * this.#range.length : FIRST_BYTES;
      const bytes = Math.min(Math.max(FIRST_BYTES, inOrder), MAX_BYTES);
      await this.#fetch(position, Math.min(position + bytes, this.#state.bytes));
    }
    const from = position - this.#start;
    return { bytesRead: this.#range.copy(target, offset, from, from + length) };
  }

  async #fetch(from: number, to: number): Promise<void> {
    const { bytes } = await getRange(this.#path, { from, to, of: this.#state }, this.#signal);
    if (bytes.length !== to - from) {
      throw new ObjectError(itemError('UNREADABLE_SOURCE', 'the object is shorter than it is listed'));
    }
    this.#range = bytes;
    this.#start = from;
  }

  descriptor(): Promise<FileHandle> {
    return (this.#copy ??= this.#download());
  }

  async #download(): Promise<FileHandle> {
    const { bytes } = this.#state;
    if (bytes > MAX_COPY_BYTES) {
      const what = `the object has ${bytes} bytes of at most ${MAX_COPY_BYTES} that are copied to disk`;
      throw new ObjectError(itemError('ITEM_TOO_LARGE', `${what}: divide it`));
    }
    const copy = await openUnnamedFile();
    try {
      const piece = Buffer.allocUnsafeSlow(FIRST_BYTES);
      for (let at = 0; at < bytes;) {
        const { bytesRead } = await this.read(piece, 0, piece.length, at);
        await writeAt(copy, piece.subarray(0, bytesRead), at);
        at += bytesRead;
      }
      return copy;
    } catch (error) {
      await copy.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#range = Buffer.alloc(0);
    const copy = await this.#copy?.catch(() => null);
    await copy?.close();
  }
}
