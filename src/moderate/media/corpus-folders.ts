import { stat, type FileHandle } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { isRecordedPath, recordedPath, systemPath } from '../../domain/file-path.ts';
import { itemError, passingError, type ItemError } from '../../domain/item-error.ts';
import type { MediaFile } from '../../domain/request.ts';
import { NotAnOrdinaryFile, openFile } from '../../files/open-file.ts';
import { isInside, openInside, OutsideFolder, realPath } from '../../files/open-inside.ts';

/** The corpora that this process has, and the only way to open a file in them. */
export class CorpusFolders {
  readonly #roots: ReadonlyMap<string, string>;

  /** `roots`: by the corpus's name, the absolute folder it is in; of a corpus that is one file, that file. */
  constructor(roots: ReadonlyMap<string, string>) {
    this.#roots = roots;
  }

  /** Whether a file of a corpus is here, with its size, and may be read. */
  async has({ corpus, path, bytes }: Omit<MediaFile, 'sha256'>): Promise<boolean> {
    const file = await this.open({ corpus, path });
    if ('code' in file) return false;
    try {
      return (await file.stat()).size === bytes;
    } finally {
      await file.close();
    }
  }

  /**
   * Whether the corpus itself is here, as far as the place of a file in it tells: something is there, whatever it is by
   * now. A corpus that is one file, at the path '', may be gone from the folder that it was in.
   */
  async knows(corpus: string, path: string): Promise<boolean> {
    const root = this.#roots.get(corpus);
    if (root === undefined) return false;
    try {
      if (path !== '') return (await this.#locate(corpus, path)) !== null;
      const isFolder = await isDirectory(root);
      return isFolder === null ? (await isDirectory(dirname(root))) === true : !isFolder;
    } catch {
      return false;
    }
  }

  /**
   * Opens a media file for reading. What stands in the way is the item's error; a path or a link that leads out of its
   * corpus is refused like a file that cannot be read, but for good: what the system says may be otherwise later.
   */
  async open({ corpus, path }: Pick<MediaFile, 'corpus' | 'path'>): Promise<FileHandle | ItemError> {
    const root = this.#rootOf(corpus, path);
    if (root === null) return OUTSIDE;
    try {
      if (path === '') return await openFile(systemPath(root), 'follow');
      return await openInside(join(root, path), root);
    } catch (error) {
      if (error instanceof OutsideFolder) return OUTSIDE;
      if (error instanceof NotAnOrdinaryFile)
        return itemError('UNREADABLE_SOURCE', 'there is no ordinary file any more');
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'error';
      return passingError('UNREADABLE_SOURCE', `the file cannot be read (${code})`);
    }
  }

  /** The real path of a file, in the recorded form; null when that is not inside the corpus. Rejects when there is none. */
  async #locate(corpus: string, path: string): Promise<string | null> {
    const root = this.#rootOf(corpus, path);
    if (root === null) return null;
    const real = await realPath(join(root, path));
    return isInside(real, await realPath(root)) ? real : null;
  }

  /** Where a corpus is, in the recorded form; null when that is not known, or the path below it tries to leave it. */
  #rootOf(corpus: string, path: string): string | null {
    const root = this.#roots.get(corpus);
    const escapes = isAbsolute(path) || path.includes('\0') || path.split(/[/\\]/).includes('..');
    // An escape may hide what was looked for just now.
    return root === undefined || escapes || !isRecordedPath(path) ? null : recordedPath(root);
  }
}

const OUTSIDE = itemError('UNREADABLE_SOURCE', 'the file is not inside its corpus');

/** Null when there is nothing at a path. Rejects when it cannot be looked at. */
async function isDirectory(path: string): Promise<boolean | null> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
