import type { FileHandle } from 'node:fs/promises';
import { Failure } from '../domain/failure.ts';
import { createFile } from '../files/create-file.ts';
import { findEnclosingRunDirectory } from '../files/folders.ts';

/** A new file that is written line by line. */
export class LineFile {
  readonly #handle: FileHandle;

  private constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /**
   * Failure('usage') if the path exists, its folder does not, or it is in a run directory: an unlisted file there would
   * make the record fail verification. `flag` is the flag that named the path.
   */
  static async create(path: string, flag = '--out'): Promise<LineFile> {
    if ((await findEnclosingRunDirectory(path)) !== null) {
      throw new Failure('usage', `${flag}: the file would be in a run directory; choose a place outside`);
    }
    try {
      return new LineFile(await createFile(path));
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code === 'EEXIST') throw new Failure('usage', `${flag}: the file already exists`, { cause });
      throw new Failure('usage', `${flag}: the file cannot be created (${code})`, { cause });
    }
  }

  /** Each string ends in a newline. */
  async write(texts: readonly string[]): Promise<void> {
    if (texts.length > 0) await this.#handle.appendFile(texts.join(''));
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}
