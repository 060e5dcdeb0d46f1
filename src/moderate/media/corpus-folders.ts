import { isAbsolute, join } from 'node:path';
import { isEncodedPath, encodePath, decodePath } from '../../domain/file-path.ts';
import { itemError, transientError, type ItemError } from '../../domain/item-error.ts';
import { isObjectPath } from '../../domain/object-path.ts';
import type { MediaFile } from '../../domain/request.ts';
import { NotRegularFileError, openFile } from '../../files/open-file.ts';
import { openInside, PathEscapesFolderError } from '../../files/open-inside.ts';
import { toReadProblem } from '../../ingest/objects/object-error.ts';
import { ObjectFile } from '../../ingest/objects/object-file.ts';
import { headObject } from '../../ingest/objects/object-client.ts';
import { LocalFile, type SourceFile } from '../../ingest/sources/source-file.ts';

/** The corpora that this process can read; all their files are opened through it. */
export class CorpusFolders {
  readonly #roots: ReadonlyMap<string, string>;

  /**
   * `roots` has the absolute path of each corpus by name: a folder, or a file for a corpus that is one file; in object
   * storage, a key prefix.
   */
  constructor(roots: ReadonlyMap<string, string>) {
    this.#roots = roots;
  }

  /** Whether a file of a corpus is readable here and has this size. */
  async has({ corpus, path, bytes }: Omit<MediaFile, 'sha256'>, signal: AbortSignal): Promise<boolean> {
    const object = this.#objectOf(corpus, path);
    if (object !== null) {
      const found = await headObject(object, signal).catch(toReadProblem);
      return !('code' in found) && found.bytes === bytes;
    }
    const file = await this.open({ corpus, path }, signal);
    if ('code' in file) return false;
    try {
      return file.state().bytes === bytes;
    } finally {
      await file.close();
    }
  }

  /** Whether this process has a folder for the corpus. */
  knows(corpus: string): boolean {
    return this.#roots.has(corpus);
  }

  /**
   * Opens a media file for reading, or returns the item's error. System errors may be retried; a path or link that
   * leads out of the corpus, or to something other than a regular file, may not.
   */
  async open(
    { corpus, path }: Pick<MediaFile, 'corpus' | 'path'>,
    signal: AbortSignal,
  ): Promise<SourceFile | ItemError> {
    const object = this.#objectOf(corpus, path);
    const root = this.#rootOf(corpus, path);
    if (object !== null) return ObjectFile.open(object, signal).catch(toReadProblem);
    if (root === null) return OUTSIDE;
    try {
      const opening = path === '' ? openFile(decodePath(root), 'follow') : openInside(join(root, path), root);
      return new LocalFile(await opening);
    } catch (error) {
      if (error instanceof PathEscapesFolderError) return OUTSIDE;
      if (error instanceof NotRegularFileError)
        return itemError('UNREADABLE_SOURCE', 'there is no ordinary file any more');
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'error';
      return transientError('UNREADABLE_SOURCE', `the file cannot be read (${code})`);
    }
  }

  /** The encoded path of an object; null for a file. Keys are plain names: none can lead out of its bucket. */
  #objectOf(corpus: string, path: string): string | null {
    const root = this.#roots.get(corpus);
    if (root === undefined || !isObjectPath(root)) return null;
    return path === '' ? encodePath(root) : `${encodePath(root)}/${path}`;
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
