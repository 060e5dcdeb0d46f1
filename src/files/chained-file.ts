import { hash } from 'node:crypto';
import { lstat, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { Failure } from '../domain/failure.ts';
import { openForAppending } from './create-file.ts';
import { isDiskFull } from './disk-full.ts';
import { makeFolders, syncDirectory, writeAt } from './durable-write.ts';
import { decodeLine, encodeLine } from './checked-line.ts';
import { NotRegularFileError } from './open-file.ts';
import { readFully } from './read-fully.ts';
import { readRecordLines } from './record-lines.ts';

/** How many of the last lines a new line may follow: processes that append at the same time follow the same line. */
const WINDOW = 64;

/** Far more than people write: half a million reviews. */
const MAX_BYTES = 256 * 1024 * 1024;

const ENTRY = z.looseObject({ prev: z.string() });

interface ChainedFileOptions {
  /** Absolute path. Its folder is created by the first `append`. */
  readonly path: string;
  /** Name of the file in messages. */
  readonly name: string;
  /** Hash that the first line follows; only this file begins with it. */
  readonly genesis: string;
  /**
   * Receives every entry of the file once, in order, whether another process or this one appended it. If it throws, the
   * call ends, and the next call begins with the same entry.
   */
  readonly take: (entry: Readonly<Record<string, unknown>>) => void;
}

/**
 * A file of JSON lines to which several processes append. Each line contains the hash of an earlier one (`prev`) and
 * its own check, so a changed, removed or moved line is detected, unless it was the last. A line torn by a crash is
 * skipped: no other line names it.
 */
export class ChainedFile {
  readonly #options: ChainedFileOptions;
  /** Hashes of the last lines, oldest first. */
  #window: string[];
  /** Bytes and lines read so far. */
  #position = 0;
  #lines = 0;
  /** Serializes reads and appends. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: ChainedFileOptions) {
    this.#options = options;
    this.#window = [options.genesis];
  }

  /** Reads entries appended since the last call. Failure('internal') if the chain fails verification. */
  read(signal: AbortSignal): Promise<void> {
    return this.#next(() => this.#readOn(signal));
  }

  /**
   * Appends an entry; when this resolves, it is on disk and was passed to `take`. Failure('service') if the disk is
   * full; the file is then unchanged. The keys `prev` and `check` are reserved for the file. `admit` is called once all
   * earlier entries were taken; if it throws, the call ends and nothing is appended.
   */
  append(entry: Readonly<Record<string, unknown>>, admit: () => void = () => undefined): Promise<void> {
    return this.#next(async () => {
      const { signal } = new AbortController();
      await this.#readOn(signal);
      admit();
      const { path } = this.#options;
      await makeFolders(dirname(path));
      const handle = await openForAppending(path);
      try {
        const before = (await handle.stat()).size;
        const line = encodeLine({ ...entry, prev: this.#window.at(-1) });
        // Ends a line that was torn by a crash.
        const bytes = Buffer.from(`${before === this.#position ? '' : '\n'}${line}\n`);
        await this.#write(handle, bytes, before);
        if (before === 0) await syncDirectory(dirname(path));
      } finally {
        await handle.close();
      }
      await this.#readOn(signal);
    });
  }

  #next<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work);
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #write(handle: FileHandle, bytes: Buffer, before: number): Promise<void> {
    try {
      // The position has no effect on a file opened for appending.
      await writeAt(handle, bytes, before);
      await handle.datasync();
    } catch (cause) {
      await takeBack(handle, bytes, before).catch(() => undefined);
      if (!isDiskFull(cause)) throw cause;
      throw new Failure('service', `the disk is full: nothing was added to ${this.#options.name}`, { cause });
    }
  }

  async #readOn(signal: AbortSignal): Promise<void> {
    const { path, name, take } = this.#options;
    const size = await sizeOf(path);
    if (size < this.#position) throw new Failure('internal', `${name} has become shorter`);
    if (size > MAX_BYTES) throw new Failure('internal', `${name} has more than 256 MB`);
    if (size === this.#position) return;
    for await (const lines of readRecordLines(path, { signal, from: this.#position })) {
      for (const bytes of lines) {
        const entry = decodeLine(ENTRY, bytes);
        const isEntry = typeof entry === 'object';
        if (isEntry && !this.#window.includes(entry.prev)) {
          throw new Failure(
            'internal',
            `${name} line ${this.#lines + 1} does not follow the lines before it`,
          );
        }
        if (isEntry) {
          take(entry);
          this.#window.push(hash('sha256', bytes));
          if (this.#window.length > WINDOW) this.#window.shift();
        }
        this.#position += bytes.length + 1;
        this.#lines++;
      }
    }
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    const found = await lstat(path);
    if (!found.isFile()) throw new NotRegularFileError(path);
    return found.size;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
    throw error;
  }
}

/** Removes the bytes of a failed append, unless another process has appended since. */
async function takeBack(handle: FileHandle, bytes: Buffer, before: number): Promise<void> {
  const written = (await handle.stat()).size - before;
  if (written <= 0 || written > bytes.length) return;
  const found = await readFully(handle, Buffer.alloc(written), before);
  if (found.equals(bytes.subarray(0, written))) await handle.truncate(before);
}
