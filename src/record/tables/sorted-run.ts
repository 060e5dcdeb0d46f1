import type { FileHandle } from 'node:fs/promises';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { readFully } from '../../files/read-fully.ts';

/** Bytes read at a time; a longer line takes as many as it has. */
const READ_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** An outcome line: parsed, and its bytes with the newline. */
export interface SortedLine {
  readonly line: OutcomeLine;
  readonly bytes: Buffer;
}

/** Sorted outcome lines, gone through one by one: held in memory, or read from a temporary file of our own. */
export class SortedRun {
  readonly #file: FileHandle | null;
  readonly #end: number;
  #position: number;
  /** What was read; the lines before `#at` were gone through. */
  #bytes: Buffer;
  #at = 0;
  #current: SortedLine | null = null;

  private constructor(file: FileHandle | null, start: number, end: number, bytes: Buffer) {
    this.#file = file;
    this.#position = start;
    this.#end = end;
    this.#bytes = bytes;
  }

  /** Lines as JSON, each with a newline. */
  static held(bytes: Buffer): SortedRun {
    return new SortedRun(null, 0, 0, bytes);
  }

  /** The same in a file. */
  static stored(file: FileHandle, span: { readonly start: number; readonly end: number }): SortedRun {
    return new SortedRun(file, span.start, span.end, Buffer.alloc(0));
  }

  /** Goes to the next line; false when there is none. A promise only when there is something to wait for. */
  advance(): boolean | Promise<boolean> {
    if (this.#at < this.#bytes.length) return this.#parse();
    if (this.#file === null || this.#position === this.#end) return false;
    return this.#read(this.#file, READ_BYTES);
  }

  /** The line that `advance` went to. */
  get current(): SortedLine {
    return this.#current!;
  }

  #parse(): true {
    const end = this.#bytes.indexOf(NEWLINE, this.#at) + 1;
    const bytes = this.#bytes.subarray(this.#at, end);
    this.#current = { line: JSON.parse(bytes.toString()) as OutcomeLine, bytes };
    this.#at = end;
    return true;
  }

  async #read(file: FileHandle, wanted: number): Promise<boolean> {
    const size = Math.min(wanted, this.#end - this.#position);
    const bytes = await readFully(file, Buffer.allocUnsafe(size), this.#position);
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    if (end === 0) {
      if (bytes.length < wanted) throw new Error('a sorted run ends within a line');
      return this.#read(file, wanted * 2);
    }
    this.#bytes = bytes.subarray(0, end);
    this.#at = 0;
    this.#position += end;
    return this.#parse();
  }
}
