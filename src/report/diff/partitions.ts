import { mkdtemp, open, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFully } from '../../files/read-fully.ts';

/** Bytes that are collected for a partition before they are written. */
const BUFFER_BYTES = 64 * 1024;
/** Bytes that are read at once. */
const CHUNK_BYTES = 1024 * 1024;

/** Entries of equal size in temporary files, by partition: what is too much to hold in memory at once. */
export class Partitions {
  readonly #folder: string;
  readonly #entryBytes: number;
  readonly #files: (FileHandle | null)[];
  readonly #buffers: Buffer[];
  readonly #filled: number[];

  private constructor(folder: string, count: number, entryBytes: number) {
    this.#folder = folder;
    this.#entryBytes = entryBytes;
    this.#files = new Array<FileHandle | null>(count).fill(null);
    const size = Math.max(1, Math.floor(BUFFER_BYTES / entryBytes)) * entryBytes;
    this.#buffers = Array.from({ length: count }, () => Buffer.allocUnsafe(size));
    this.#filled = new Array<number>(count).fill(0);
  }

  /** In a new folder of the system's folder for temporary files. The caller removes them. */
  static async create(count: number, entryBytes: number): Promise<Partitions> {
    return new Partitions(await mkdtemp(join(tmpdir(), 'guardsweep-diff-')), count, entryBytes);
  }

  get count(): number {
    return this.#files.length;
  }

  /** Adds an entry. If it returns true, the partition has to be flushed before the next `add`. */
  add(partition: number, entry: Buffer): boolean {
    const buffer = this.#buffers[partition]!;
    const at = this.#filled[partition]!;
    entry.copy(buffer, at);
    this.#filled[partition] = at + entry.length;
    return at + entry.length === buffer.length;
  }

  async flush(partition: number): Promise<void> {
    const file = (this.#files[partition] ??= await open(join(this.#folder, String(partition)), 'wx+', 0o600));
    await file.appendFile(this.#buffers[partition]!);
    this.#filled[partition] = 0;
  }

  /** The entries of a partition in the order they were added, in pieces. The pieces are overwritten by the next ones. */
  async *read(partition: number): AsyncGenerator<Buffer, void> {
    const file = this.#files[partition]!;
    if (file !== null) {
      const chunk = Buffer.allocUnsafe(Math.floor(CHUNK_BYTES / this.#entryBytes) * this.#entryBytes);
      for (let at = 0; ; at += chunk.length) {
        const piece = await readFully(file, chunk, at);
        if (piece.length > 0) yield piece;
        if (piece.length < chunk.length) break;
      }
    }
    const rest = this.#buffers[partition]!.subarray(0, this.#filled[partition]);
    if (rest.length > 0) yield rest;
  }

  async remove(): Promise<void> {
    for (const file of this.#files) await file?.close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}
