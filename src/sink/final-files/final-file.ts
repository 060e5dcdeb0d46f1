import { createHash } from 'node:crypto';
import { rename, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { createTemporary } from '../../files/create-file.ts';
import { retryWhileDiskFull, type DiskFullPolicy } from '../../files/disk-full.ts';
import { writeAt } from '../../files/durable-write.ts';
import { hashFile } from '../../files/hash-file.ts';
import { temporaryName } from '../../files/run-files.ts';
import type { FileEntry } from '../../record/manifest/manifest.ts';
import { TextBuffer } from '../../files/text-buffer.ts';
import { assertHighestEpoch } from '../verdict-log/take-epoch.ts';

/** Min bytes per write. */
const MIN_WRITE_BYTES = 1024 * 1024;

/** The writer of final files: a claimed epoch of a run. */
export interface FinalWriter {
  readonly runDir: string;
  readonly epoch: number;
  readonly diskFull: DiskFullPolicy;
}

/** A final file being written. It appears under its name complete and synced, or not at all. */
export class FinalFile {
  readonly name: string;
  /** Path until it is published. */
  readonly temporary: string;
  readonly #writer: FinalWriter;
  readonly #handle: FileHandle;
  readonly #hash = createHash('sha256');
  #waiting = new TextBuffer(MIN_WRITE_BYTES);
  #written = 0;
  #filled = false;
  #entry: FileEntry | null = null;

  private constructor(name: string, writer: FinalWriter, temporary: string, handle: FileHandle) {
    this.name = name;
    this.#writer = writer;
    this.temporary = temporary;
    this.#handle = handle;
  }

  static async create(name: string, writer: FinalWriter): Promise<FinalFile> {
    const temporary = join(writer.runDir, temporaryName(name, writer.epoch));
    const create = (): Promise<FileHandle> => createTemporary(temporary);
    return new FinalFile(name, writer, temporary, await retryWhileDiskFull(name, create, writer.diskFull));
  }

  async write(content: string | readonly (string | Buffer)[]): Promise<void> {
    for (const text of typeof content === 'string' ? [content] : content) this.#waiting.add(text);
    if (this.#waiting.length >= MIN_WRITE_BYTES) await this.#flush();
  }

  /**
   * Lets `work` write the file at its temporary path, instead of `write`. While the disk is full, `work` is called
   * again after a wait and rewrites the file from its beginning.
   */
  async fill(work: () => Promise<void>): Promise<void> {
    await retryWhileDiskFull(this.name, work, this.#writer.diskFull);
    this.#filled = true;
  }

  /** Syncs and closes the file, still under its temporary name. Idempotent. */
  async complete(): Promise<FileEntry> {
    if (this.#entry !== null) return this.#entry;
    await this.#flush();
    this.#waiting = new TextBuffer(0);
    await this.#handle.datasync();
    await this.#handle.close();
    const { bytes, sha256 } = this.#filled
      ? await hashFile(this.temporary, { signal: this.#writer.diskFull.signal })
      : { bytes: this.#written, sha256: this.#hash.digest('hex') };
    this.#entry = { path: this.name, bytes, sha256 };
    return this.#entry;
  }

  /**
   * Renames the file; the caller syncs the directory. Throws Failure('superseded') when a later epoch was claimed, even
   * between the check and the rename: the new writer removes the temporary file.
   */
  async publish(): Promise<void> {
    const { runDir, epoch, diskFull } = this.#writer;
    const put = async (): Promise<void> => {
      await assertHighestEpoch(runDir, epoch);
      await rename(this.temporary, join(runDir, this.name));
    };
    try {
      await retryWhileDiskFull(this.name, put, diskFull);
    } catch (error) {
      if (error instanceof Failure) throw error;
      await assertHighestEpoch(runDir, epoch);
      throw new Failure('internal', `${this.name} cannot be moved into place`, { cause: error });
    }
  }

  /** Removes a file that was not published. Safe after any other call. */
  async discard(): Promise<void> {
    if (this.#entry === null) await this.#handle.close();
    this.#entry ??= { path: this.name, bytes: 0, sha256: '' };
    await rm(this.temporary, { force: true });
  }

  async #flush(): Promise<void> {
    const bytes = this.#waiting.take();
    this.#hash.update(bytes);
    await retryWhileDiskFull(
      this.name,
      () => writeAt(this.#handle, bytes, this.#written),
      this.#writer.diskFull,
    );
    this.#written += bytes.length;
    this.#waiting.clear();
  }
}
