import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { openFile } from '../../files/open-file.ts';
import { readFully } from '../../files/read-fully.ts';

const NEWLINE = 0x0a;

/** Compares a file with the text it should consist of, piece by piece. */
export class FileComparison {
  readonly #name: string;
  readonly #handle: FileHandle;
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
  async write(content: string | Buffer | readonly string[]): Promise<void> {
    const expected = Buffer.isBuffer(content)
      ? content
      : Buffer.from(typeof content === 'string' ? content : content.join(''));
    const found = await readFully(this.#handle, Buffer.allocUnsafe(expected.length), this.#position);
    if (!found.equals(expected)) {
      let same = 0;
      while (same < found.length && found[same] === expected[same]) same++;
      const line = this.#lines + newlines(expected.subarray(0, same)) + 1;
      throw new Failure('internal', `${this.#name} line ${line} is not what the verdict log says`);
    }
    this.#position += expected.length;
    this.#lines += newlines(expected);
  }

  /** Failure('internal') when the file is longer than its text. Idempotent. */
  async complete(): Promise<void> {
    if ((await this.#handle.stat()).size > this.#position) {
      throw new Failure('internal', `${this.#name} line ${this.#lines + 1} is not in the verdict log`);
    }
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
