import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { openFile } from '../../files/open-file.ts';
import { readFully } from '../../files/read-fully.ts';
import { TextBuffer } from '../../files/text-buffer.ts';

const NEWLINE = 0x0a;

/** Bytes compared at a time. */
const COMPARED_BYTES = 1024 * 1024;

/** Compares a file with its expected text, piece by piece. */
export class FileComparison {
  readonly #name: string;
  readonly #handle: FileHandle;
  readonly #hash = createHash('sha256');
  /** Text that was not compared yet. */
  readonly #waiting = new TextBuffer(COMPARED_BYTES);
  #read = Buffer.alloc(0);
  #position = 0;
  /** Lines found equal so far. */
  #lines = 0;

  private constructor(name: string, handle: FileHandle) {
    this.#name = name;
    this.#handle = handle;
  }

  static async open(runDir: string, name: string): Promise<FileComparison> {
    return new FileComparison(name, await openFile(join(runDir, name), 'refuse'));
  }

  /** Compares the next piece. Failure('internal') names the first line that differs. */
  async write(content: string | readonly (string | Buffer)[]): Promise<void> {
    for (const text of typeof content === 'string' ? [content] : content) this.#waiting.add(text);
    if (this.#waiting.length >= COMPARED_BYTES) await this.#compare();
  }

  async #compare(): Promise<void> {
    const expected = this.#waiting.take();
    const found = await readFully(this.#handle, this.#room(expected.length), this.#position);
    if (!found.equals(expected)) {
      let same = 0;
      while (same < found.length && found[same] === expected[same]) same++;
      const line = this.#lines + newlines(expected.subarray(0, same)) + 1;
      throw new Failure('internal', `${this.#name} line ${line} does not match the verdict log`);
    }
    this.#hash.update(expected);
    this.#position += expected.length;
    this.#lines += newlines(expected);
    this.#waiting.clear();
  }

  /**
   * Must be called once, after the last piece. Returns the hash of the file. Failure('internal') when the file is
   * longer than its text.
   */
  async complete(): Promise<string> {
    await this.#compare();
    if ((await this.#handle.stat()).size > this.#position) {
      throw new Failure('internal', `${this.#name} line ${this.#lines + 1} is not in the verdict log`);
    }
    return this.#hash.digest('hex');
  }

  #room(length: number): Buffer {
    if (this.#read.length < length) this.#read = Buffer.allocUnsafe(length);
    return this.#read.subarray(0, length);
  }

  async close(): Promise<void> {
    await this.#handle.close();
  }
}

function newlines(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return count;
}
