import { stat, type FileHandle } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { isEncodedPath, encodePath, decodePath } from '../../domain/file-path.ts';
import { itemError, transientError, type ItemError } from '../../domain/item-error.ts';
import type { MediaFile } from '../../domain/request.ts';
import { NotRegularFileError, openFile } from '../../files/open-file.ts';
import { isInside, openInside, PathEscapesFolderError, realPath } from '../../files/open-inside.ts';

/** The corpora that this process can read, and the only way to open a file in them. */
export class CorpusFolders {
  readonly #roots: ReadonlyMap<string, string>;

  /** `roots`: the absolute path of each corpus, by its name: a folder, or a file for a corpus that is one file. */
  constructor(roots: ReadonlyMap<string, string>) {
    this.#roots = roots;
  }

  /** Whether a file of a corpus is readable here and has this size. */
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
   * Whether the corpus itself is here, judged by the path of one of its files: anything that exists at that path counts.
   * For a corpus that is one file (path ''), the folder that contains it counts as well, since the file may be gone.
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
   * Opens a media file for reading, or returns the item's error. An error of the system may be retried; a path or link
   * that leads out of the corpus, or to something other than an ordinary file, may not.
   */
  async open({ corpus, path }: Pick<MediaFile, 'corpus' | 'path'>): Promise<FileHandle | ItemError> {
    const root = this.#rootOf(corpus, path);
    if (root === null) return OUTSIDE;
    try {
      if (path === '') return await openFile(decodePath(root), 'follow');
      return await openInside(join(root, path), root);
    } catch (error) {
      if (error instanceof PathEscapesFolderError) return OUTSIDE;
      if (error instanceof NotRegularFileError)
        return itemError('UNREADABLE_SOURCE', 'there is no ordinary file any more');
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'error';
      return transientError('UNREADABLE_SOURCE', `the file cannot be read (${code})`);
    }
  }

  /** The real path of a file, encoded; null if it is outside the corpus. Rejects if there is no such file. */
  async #locate(corpus: string, path: string): Promise<string | null> {
    const root = this.#rootOf(corpus, path);
    if (root === null) return null;
    const real = await realPath(join(root, path));
    return isInside(real, await realPath(root)) ? real : null;
  }

  /** The root of a corpus, encoded; null for an unknown corpus and for a path that would leave it. */
  #rootOf(corpus: string, path: string): string | null {
    const root = this.#roots.get(corpus);
    const escapes = isAbsolute(path) || path.includes('\0') || path.split(/[/\\]/).includes('..');
    // An escape `\xHH` could hide a separator or a dot from the other checks.
    return root === undefined || escapes || !isEncodedPath(path) ? null : encodePath(root);
  }
}

const OUTSIDE = itemError('UNREADABLE_SOURCE', 'the file is not inside its corpus');

/** Null if nothing exists at the path. Rejects if it cannot be examined. */
async function isDirectory(path: string): Promise<boolean | null> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
