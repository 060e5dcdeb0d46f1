import type { FileHandle } from 'node:fs/promises';
import type { OutcomeLine } from '../../domain/outcome.ts';
import { readFully } from '../../files/read-fully.ts';

/** Bytes read at a time; a longer line takes as many as it has. */
const READ_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

/** Sorted outcome lines that are taken one by one: held in memory, or read from a temporary file of our own. */
export class SortedRun {
  readonly #file: FileHandle | null;
  readonly #end: number;
  /** Lines that were read and not taken. */
  #lines: readonly OutcomeLine[];
  #taken = 0;
  #position: number;

  private constructor(file: FileHandle | null, start: number, end: number, lines: readonly OutcomeLine[]) {
    this.#file = file;
    this.#position = start;
    this.#end = end;
    this.#lines = lines;
  }

  static held(lines: readonly OutcomeLine[]): SortedRun {
    return new SortedRun(null, 0, 0, lines);
  }

  /** Lines as JSON, each with a newline. */
  static stored(file: FileHandle, span: { readonly start: number; readonly end: number }): SortedRun {
    return new SortedRun(file, span.start, span.end, []);
  }

  /** A promise only when there is something to wait for. */
  hasNext(): boolean | Promise<boolean> {
    if (this.#taken < this.#lines.length) return true;
    if (this.#file === null || this.#position === this.#end) return false;
    return this.#read(this.#file, READ_BYTES);
  }

  /** The line that `take` takes, after `hasNext` has said that there is one. */
  get next(): OutcomeLine {
    return this.#lines[this.#taken]!;
  }

  take(): OutcomeLine {
    return this.#lines[this.#taken++]!;
  }

  async #read(file: FileHandle, wanted: number): Promise<boolean> {
    const size = Math.min(wanted, this.#end - this.#position);
    const bytes = await readFully(file, Buffer.allocUnsafe(size), this.#position);
    const end = bytes.lastIndexOf(NEWLINE) + 1;
    if (end === 0) {
      if (bytes.length < wanted) throw new Error('a sorted run ends within a line');
      return this.#read(file, wanted * 2);
    }
    const text = bytes.toString('utf8', 0, end - 1);
    this.#lines = text.split('\n').map((line) => JSON.parse(line) as OutcomeLine);
    this.#taken = 0;
    this.#position += end;
    return true;
  }
}
