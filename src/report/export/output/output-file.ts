import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { createGzip, type Gzip } from 'node:zlib';
import { createFile } from '../../../files/create-file.ts';
import { writeAt } from '../../../files/durable-write.ts';
import { TextBuffer } from '../../../files/text-buffer.ts';
import { writeFailure } from './write-failure.ts';

/** Min bytes per write. */
const MIN_WRITE_BYTES = 256 * 1024;

/** Bytes that are buffered at first: most files of a folder are small. */
const FIRST_BYTES = 16 * 1024;

/** Size and hash of a written file. */
export interface WrittenFile {
  readonly bytes: number;
  readonly sha256: string;
}

/** A file being written, compressed or not. It must not exist. Failures are those of `writeFailure`. */
export class OutputFile {
  readonly #handle: FileHandle;
  readonly #gzip: Gzip | null;
  readonly #compressed: Buffer[] = [];
  readonly #hash = createHash('sha256');
  #waiting = new TextBuffer(FIRST_BYTES);
  #written = 0;
  #isClosed = false;

  private constructor(handle: FileHandle, isCompressed: boolean) {
    this.#handle = handle;
    this.#gzip = isCompressed ? createGzip() : null;
    this.#gzip?.on('data', (piece: Buffer) => this.#compressed.push(piece));
  }

  /** Rejects with the system's error; EEXIST if the name is taken. */
  static async create(path: string | Buffer, isCompressed: boolean): Promise<OutputFile> {
    return new OutputFile(await createFile(path), isCompressed);
  }

  async write(content: string | Buffer): Promise<void> {
    this.add(content);
    await this.drain();
  }

  /** Adds to what is to be written. Call `drain` once for every few rows. */
  add(content: string | Buffer): void {
    this.#waiting.add(content);
  }

  /** Writes what was added, if it is enough. */
  async drain(): Promise<void> {
    if (this.#waiting.length >= MIN_WRITE_BYTES) await this.#flush();
  }

  /** Syncs and closes the file. */
  async complete(): Promise<WrittenFile> {
    await this.#flush();
    const gzip = this.#gzip;
    if (gzip !== null) {
      await new Promise<void>((resolve, reject) => gzip.on('error', reject).once('end', resolve).end());
      await this.#put(Buffer.concat(this.#compressed.splice(0)));
    }
    try {
      await this.#handle.datasync();
    } catch (error) {
      throw writeFailure(error);
    }
    await this.close();
    return { bytes: this.#written, sha256: this.#hash.digest('hex') };
  }

  /** Safe after any other call. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#waiting = new TextBuffer(0);
    this.#gzip?.destroy();
    await this.#handle.close();
  }

  async #flush(): Promise<void> {
    const bytes = this.#waiting.take();
    const gzip = this.#gzip;
    if (gzip === null) await this.#put(bytes);
    else {
      await new Promise<void>((resolve, reject) => {
        gzip.write(bytes, (error) => (error === null || error === undefined ? resolve() : reject(error)));
      });
      await this.#put(Buffer.concat(this.#compressed.splice(0)));
    }
    this.#waiting.clear();
  }

  async #put(bytes: Buffer): Promise<void> {
    this.#hash.update(bytes);
    try {
      await writeAt(this.#handle, bytes, this.#written);
    } catch (error) {
      throw writeFailure(error);
    }
    this.#written += bytes.length;
  }
}
