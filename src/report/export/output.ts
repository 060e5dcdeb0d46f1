import { createHash, randomBytes } from 'node:crypto';
import { mkdir, rename, rm, rmdir, type FileHandle } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Failure } from '../../domain/failure.ts';
import { decodePath, isEncodedPath } from '../../domain/file-path.ts';
import { createFile, DIRECTORY_MODE } from '../../files/create-file.ts';
import { isDiskFull } from '../../files/disk-full.ts';
import { syncDirectory } from '../../files/durable-write.ts';
import { TextBuffer } from '../../files/text-buffer.ts';
import { assertNothingAt, type Destination } from './destination.ts';
import { SourceRefused } from './reasons.ts';

/** Min bytes per write. */
const MIN_WRITE_BYTES = 256 * 1024;

/** Initial buffer size in bytes: most files of a folder are small. */
const FIRST_BYTES = 16 * 1024;

const compress = promisify(gzip);

/** Errors for a path blocked by another one, even if the names differ in letter case only. */
const NOT_A_NAME: ReadonlySet<unknown> = new Set([
  'EEXIST',
  'ENOTDIR',
  'EISDIR',
  'ENAMETOOLONG',
  'EILSEQ',
  'EINVAL',
]);

/** Size and hash of a written file. */
export interface WrittenFile {
  readonly bytes: number;
  readonly sha256: string;
}

/** A file being written, compressed or not. */
export class OutputFile {
  readonly #handle: FileHandle;
  readonly #isCompressed: boolean;
  readonly #hash = createHash('sha256');
  #waiting = new TextBuffer(FIRST_BYTES);
  #written = 0;
  #isClosed = false;

  private constructor(handle: FileHandle, isCompressed: boolean) {
    this.#handle = handle;
    this.#isCompressed = isCompressed;
  }

  /** Rejects with the system's error; EEXIST if the name is taken. */
  static async create(path: string | Buffer, isCompressed: boolean): Promise<OutputFile> {
    return new OutputFile(await createFile(path), isCompressed);
  }

  async write(content: string | Buffer): Promise<void> {
    this.add(content);
    await this.drain();
  }

  /** Adds content to write. Call `drain` once for every few rows. */
  add(content: string | Buffer): void {
    this.#waiting.add(content);
  }

  /** Writes the added content if it is enough for a write. */
  async drain(): Promise<void> {
    if (this.#waiting.length >= MIN_WRITE_BYTES) await this.#flush();
  }

  /** Syncs and closes the file. */
  async complete(): Promise<WrittenFile> {
    await this.#flush();
    await orWriteFailure(this.#handle.datasync());
    await this.close();
    return { bytes: this.#written, sha256: this.#hash.digest('hex') };
  }

  /** Safe after any other call. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#waiting = new TextBuffer(0);
    await this.#handle.close();
  }

  /** Each compressed write is a gzip member; several members are one file (RFC 1952). */
  async #flush(): Promise<void> {
    const bytes = this.#waiting.take();
    const stored = this.#isCompressed ? await compress(bytes) : bytes;
    this.#hash.update(stored);
    await orWriteFailure(this.#handle.appendFile(stored));
    this.#written += stored.length;
    this.#waiting.clear();
  }
}

/**
 * The files of an export while they are written: in a temporary folder next to their final paths, to which they are
 * renamed once all are complete and synced. So they appear as a whole or not at all.
 *
 *     open ─► create… ─► publish      (discard: at any time)
 */
export class OutputPlace {
  readonly #destination: Destination;
  readonly #isFolder: boolean;
  /** Temporary folder. */
  readonly #root: string;
  /** Whether there is a file or a folder to publish as the corpus. */
  #hasCorpus: boolean;

  private constructor(destination: Destination, isFolder: boolean, root: string) {
    this.#destination = destination;
    this.#isFolder = isFolder;
    this.#hasCorpus = isFolder;
    this.#root = root;
  }

  static async open(destination: Destination, isFolder: boolean): Promise<OutputPlace> {
    const { out } = destination;
    const name = `.${basename(out)}.${randomBytes(6).toString('hex')}.tmp`;
    const place = new OutputPlace(destination, isFolder, join(dirname(out), name));
    await orWriteFailure(
      mkdir(isFolder ? place.#tree : place.#root, { recursive: true, mode: DIRECTORY_MODE }),
    );
    return place;
  }

  /**
   * Creates the file for a source: at its encoded path below the output folder, or at the output path itself, in which
   * case its name, and not `isCompressed`, determines whether rows are compressed. With a null `isCompressed`, the
   * stored bytes are copied. SourceRefused for a path that leads out of the folder or that cannot be created.
   */
  async create(path: string, isCompressed: boolean | null): Promise<OutputFile> {
    if (!this.#isFolder) {
      const isNamedSo = isCompressed !== null && /\.gz$/i.test(this.#destination.out);
      const file = await orWriteFailure(OutputFile.create(this.#tree, isNamedSo));
      this.#hasCorpus = true;
      return file;
    }
    const parts = path.split('/');
    const isSafe = parts.every(
      (part) => part !== '' && part !== '.' && part !== '..' && !part.includes('\0'),
    );
    if (!isSafe || !isEncodedPath(path)) throw new SourceRefused('name');
    try {
      const folder = parts.slice(0, -1).join('/');
      if (folder !== '') await mkdir(this.#below(folder), { recursive: true, mode: DIRECTORY_MODE });
      return await OutputFile.create(this.#below(path), isCompressed === true);
    } catch (cause) {
      if (NOT_A_NAME.has((cause as NodeJS.ErrnoException).code)) throw new SourceRefused('name', { cause });
      throw writeFailure(cause);
    }
  }

  /** Removes a file made by `create`, after it was closed. */
  async remove(path: string): Promise<void> {
    await rm(this.#isFolder ? this.#below(path) : this.#tree, { force: true });
    if (!this.#isFolder) this.#hasCorpus = false;
  }

  /** Creates the list of exclusions, or the manifest of the export. */
  createBeside(which: 'rejected' | 'manifest'): Promise<OutputFile> {
    return orWriteFailure(OutputFile.create(join(this.#root, which), false));
  }

  /**
   * Moves all files to their final paths; returns whether a corpus is among them. Failure('usage') if a path was taken
   * in the meantime.
   */
  async publish(): Promise<boolean> {
    const { out, rejected, manifest } = this.#destination;
    const places = [
      ...(this.#hasCorpus ? [['corpus', out]] : []),
      ['rejected', rejected],
      ['manifest', manifest],
    ];
    await orWriteFailure(syncDirectory(this.#root));
    for (const [, place] of places as [string, string][]) await assertNothingAt(place);
    for (const [name, place] of places as [string, string][]) {
      await orWriteFailure(rename(join(this.#root, name), place));
    }
    await orWriteFailure(rmdir(this.#root));
    await orWriteFailure(syncDirectory(dirname(out)));
    return this.#hasCorpus;
  }

  /** Removes unpublished files. */
  async discard(): Promise<void> {
    await rm(this.#root, { recursive: true, force: true });
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

/** Waits for a file operation of an export: Failure('service') for a full disk, else 'usage'. */
async function orWriteFailure<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw writeFailure(error);
  }
}

function writeFailure(cause: unknown): Failure {
  if (isDiskFull(cause)) {
    return new Failure('service', 'the disk is full: nothing was exported; make room and export again', {
      cause,
    });
  }
  const code = cause instanceof Error && 'code' in cause ? ` (${String(cause.code)})` : '';
  return new Failure('usage', `the export cannot be written${code}: choose another place for it`, { cause });
}
