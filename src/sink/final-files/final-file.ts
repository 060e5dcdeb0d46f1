import { createHash } from 'node:crypto';
import { rename, rm, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../domain/failure.ts';
import { createTemporary } from '../../files/create-file.ts';
import { retryWhileDiskFull, type DiskFullPolicy } from '../../files/disk-full.ts';
import { writeAt } from '../../files/durable-write.ts';
import { temporaryName } from '../../files/run-files.ts';
import type { FileEntry } from '../../record/manifest/manifest.ts';
import { TextBuffer } from '../../files/text-buffer.ts';
import { assertHighestEpoch } from '../verdict-log/take-epoch.ts';

/** Written to the disk together, at least. */
const BUFFER_BYTES = 1024 * 1024;

/** Who writes final files: a claimed epoch of a run. */
export interface FinalWriter {
  readonly runDir: string;
  readonly epoch: number;
  readonly diskFull: DiskFullPolicy;
}

/** A final file in the making. It appears under its name whole and on disk, or not at all. */
export class FinalFile {
  readonly name: string;
  readonly #writer: FinalWriter;
  readonly #temporary: string;
  readonly #handle: FileHandle;
  readonly #hash = createHash('sha256');
  #waiting = new TextBuffer(BUFFER_BYTES);
  #written = 0;
  #entry: FileEntry | null = null;

  private constructor(name: string, writer: FinalWriter, temporary: string, handle: FileHandle) {
    this.name = name;
    this.#writer = writer;
    this.#temporary = temporary;
    this.#handle = handle;
  }

  static async create(name: string, writer: FinalWriter): Promise<FinalFile> {
    const temporary = join(writer.runDir, temporaryName(name, writer.epoch));
    const create = (): Promise<FileHandle> => createTemporary(temporary);
    return new FinalFile(name, writer, temporary, await retryWhileDiskFull(name, create, writer.diskFull));
  }

  async write(content: string | Buffer | readonly string[]): Promise<void> {
    if (typeof content === 'string' || Buffer.isBuffer(content)) this.#waiting.add(content);
    else for (const text of content) this.#waiting.add(text);
    if (this.#waiting.length >= BUFFER_BYTES) await this.#flush();
  }

  /** Makes what was written durable, still under the temporary name, and lets go of what writing takes. May be called again. */
  async complete(): Promise<FileEntry> {
    if (this.#entry !== null) return this.#entry;
    await this.#flush();
    this.#waiting = new TextBuffer(0);
    await this.#handle.datasync();
    await this.#handle.close();
    this.#entry = { path: this.name, bytes: this.#written, sha256: this.#hash.digest('hex') };
    return this.#entry;
  }

  /**
   * Gives the file its name; the directory is not synchronised yet. Throws Failure('superseded') when a later epoch was claimed: also when that happened
   * between the check and the rename, because the claimer has removed the temporary file.
   */
  async publish(): Promise<void> {
    const { runDir, epoch, diskFull } = this.#writer;
    const put = async (): Promise<void> => {
      await assertHighestEpoch(runDir, epoch);
      await rename(this.#temporary, join(runDir, this.name));
    };
    try {
      await retryWhileDiskFull(this.name, put, diskFull);
    } catch (error) {
      if (error instanceof Failure) throw error;
      await assertHighestEpoch(runDir, epoch);
      throw new Failure('internal', `${this.name} cannot be put in its place`, { cause: error });
    }
  }

  /** Leaves nothing behind of a file that will not be published. Safe after any other call. */
  async discard(): Promise<void> {
    if (this.#entry === null) await this.#handle.close();
    this.#entry ??= { path: this.name, bytes: 0, sha256: '' };
    await rm(this.#temporary, { force: true });
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
