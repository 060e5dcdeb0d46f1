import { randomBytes } from 'node:crypto';
import { link, mkdir, rename, rm, rmdir, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isEncodedPath, decodePath } from '../../../domain/file-path.ts';
import { DIRECTORY_MODE } from '../../../files/create-file.ts';
import { syncDirectory } from '../../../files/durable-write.ts';
import type { Destination } from './destination.ts';
import { SourceRefused } from '../source-refused.ts';
import { OutputFile } from './output-file.ts';
import { writeFailure } from './write-failure.ts';

/** Errors for a path that another one is in the way of, also where names differ in letter case only. */
const NOT_A_NAME: ReadonlySet<unknown> = new Set([
  'EEXIST',
  'ENOTDIR',
  'EISDIR',
  'ENAMETOOLONG',
  'EILSEQ',
  'EINVAL',
]);

/** Errors of a file system without hard links. */
const NO_LINKS: ReadonlySet<unknown> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

/**
 * The files of an export while they are written: in a folder of their own beside their places, from where they are
 * renamed once all are complete and synced. So they appear whole, or not at all.
 *
 *     open ─► create… ─► publish      (discard: at any time)
 */
export class OutputPlace {
  readonly #destination: Destination;
  readonly #isFolder: boolean;
  /** Temporary folder. */
  readonly #root: string;
  /** Whether there is a file to put in the place of the corpus. */
  #hasCorpus = false;
  /** Folders made in the output folder, in the recorded form, outermost first. */
  readonly #folders = new Set<string>();

  private constructor(destination: Destination, isFolder: boolean, root: string) {
    this.#destination = destination;
    this.#isFolder = isFolder;
    this.#root = root;
  }

  /** Failures are those of `writeFailure`. */
  static async open(destination: Destination, isFolder: boolean): Promise<OutputPlace> {
    const { out } = destination;
    const name = `.${basename(out)}.${randomBytes(6).toString('hex')}.tmp`;
    const place = new OutputPlace(destination, isFolder, join(dirname(out), name));
    try {
      await mkdir(place.#root, DIRECTORY_MODE);
      if (isFolder) await mkdir(place.#tree, DIRECTORY_MODE);
    } catch (error) {
      throw writeFailure(error);
    }
    return place;
  }

  /**
   * Creates the file for a source, at its path (in the recorded form) below the output folder, or in place of that: then
   * its name, and not `isCompressed`, says whether rows are compressed. A null `isCompressed`: the file is copied as it is
   * stored. SourceRefused for a path that leads out of the folder or that cannot be made.
   */
  async create(path: string, isCompressed: boolean | null): Promise<OutputFile> {
    if (!this.#isFolder) {
      return this.#createCorpus(isCompressed !== null && /\.gz$/i.test(this.#destination.out));
    }
    const parts = path.split('/');
    const isSafe = parts.every(
      (part) => part !== '' && part !== '.' && part !== '..' && !part.includes('\0'),
    );
    if (!isSafe || !isEncodedPath(path)) throw new SourceRefused('name');
    try {
      for (let depth = 1; depth < parts.length; depth++)
        await this.#makeFolder(parts.slice(0, depth).join('/'));
      return await OutputFile.create(this.#below(path), isCompressed === true);
    } catch (cause) {
      if (NOT_A_NAME.has((cause as NodeJS.ErrnoException).code)) throw new SourceRefused('name', { cause });
      throw writeFailure(cause);
    }
  }

  /** Removes a file that `create` made, after it was closed. */
  async remove(path: string): Promise<void> {
    await rm(this.#isFolder ? this.#below(path) : this.#tree, { force: true });
    if (!this.#isFolder) this.#hasCorpus = false;
  }

  /** Creates the list of what is left out, or the manifest of the export. */
  async createBeside(which: 'rejected' | 'manifest'): Promise<OutputFile> {
    try {
      return await OutputFile.create(join(this.#root, which), false);
    } catch (error) {
      throw writeFailure(error);
    }
  }

  /** Puts all files in their places; returns whether a corpus is among them. Failure('usage') if a place was taken meanwhile. */
  async publish(): Promise<boolean> {
    const { out, rejected, manifest } = this.#destination;
    try {
      for (const folder of [...this.#folders].reverse()) await syncDirectory(this.#below(folder));
      if (this.#isFolder) {
        await syncDirectory(this.#tree);
        await rename(this.#tree, out);
      } else if (this.#hasCorpus) await moveTo(this.#tree, out);
      await moveTo(join(this.#root, 'rejected'), rejected);
      await moveTo(join(this.#root, 'manifest'), manifest);
      await rmdir(this.#root);
      await syncDirectory(dirname(out));
      return this.#isFolder || this.#hasCorpus;
    } catch (error) {
      throw writeFailure(error);
    }
  }

  /** Removes what was not published. */
  async discard(): Promise<void> {
    await rm(this.#root, { recursive: true, force: true });
  }

  async #createCorpus(isCompressed: boolean): Promise<OutputFile> {
    try {
      const file = await OutputFile.create(this.#tree, isCompressed);
      this.#hasCorpus = true;
      return file;
    } catch (error) {
      throw writeFailure(error);
    }
  }

  async #makeFolder(path: string): Promise<void> {
    if (this.#folders.has(path)) return;
    await mkdir(this.#below(path), DIRECTORY_MODE);
    this.#folders.add(path);
  }

  #below(path: string): string | Buffer {
    const relative = decodePath(path);
    if (typeof relative === 'string') return join(this.#tree, relative);
    return Buffer.concat([Buffer.from(`${this.#tree}/`), relative]);
  }

  /** The file or the folder of the corpus. */
  get #tree(): string {
    return join(this.#root, 'corpus');
  }
}

/** Renames a file, but never over another one. */
async function moveTo(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    if (!NO_LINKS.has((error as NodeJS.ErrnoException).code)) throw error;
    await rename(from, to);
    return;
  }
  await unlink(from);
}
