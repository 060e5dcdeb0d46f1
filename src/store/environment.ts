import { join } from 'node:path';
import { open, type Database, type RootDatabase } from 'lmdb';

/** A table of an environment: bytes to bytes. */
export type Table = Database<Buffer, Buffer>;

/** Names of LMDB's files in the folder of an environment. */
export const DATA_FILE = 'data.mdb';

/** Address space that is reserved for the file, and so the largest file: some 300 million verdicts. */
export const MAP_BYTES = 64 * 1024 ** 3;

/** Tables open at a time: the fixed ones, and one per pass whose copies are being looked for. */
const MAX_TABLES = 128;

/** Told once per kind of failure. */
type OnFailure = (what: 'read' | 'write', error: unknown) => void;

const BINARY = { encoding: 'binary', keyEncoding: 'binary' } as const;

/**
 * An LMDB environment that may fail at any time, because everything in it can be had again: after the first error
 * nothing more is read, or written, and the owner is told once.
 *
 *            write fails (disk full)
 *     open ─────────────────────────► read-only
 *      │                                │
 *      └─────────── read fails ─────────┴──────► off
 */
export class Environment {
  readonly #root: RootDatabase<Buffer, Buffer>;
  readonly #onFailure: OnFailure;
  #state: 'open' | 'read-only' | 'off' = 'open';
  /** Promises of the write that is being filled; the library gives one per transaction. */
  #filling = new Set<Promise<unknown>>();

  private constructor(root: RootDatabase<Buffer, Buffer>, onFailure: OnFailure) {
    this.#root = root;
    this.#onFailure = onFailure;
  }

  /**
   * Opens the environment in a folder that exists, or creates it. The caller has checked that the file is undamaged: it
   * is mapped into memory. Throws the library's error.
   */
  static open(folder: string, onFailure: OnFailure): Environment {
    const path = join(folder, DATA_FILE);
    const root = open<Buffer, Buffer>({
      path,
      ...BINARY,
      mapSize: MAP_BYTES,
      maxDbs: MAX_TABLES,
      noSubdir: true,
    });
    return new Environment(root, onFailure);
  }

  /** Opens a table, or creates it. */
  table(name: string): Table {
    return this.#root.openDB<Buffer, Buffer>(name, BINARY);
  }

  /** The value of a key, valid until the next call; null when there is none, or when the environment is off. */
  get(table: Table, key: Buffer): Buffer | null {
    if (this.#state === 'off') return null;
    try {
      const bytes = table.getBinaryFast(key);
      // The library sets the length of one large buffer.
      return bytes === undefined ? null : bytes.subarray(0, bytes.length);
    } catch (error) {
      this.#state = 'off';
      this.#onFailure('read', error);
      return null;
    }
  }

  /** Adds to the write that is being filled. Key and value must not change until it is committed. */
  put(table: Table, key: Buffer, value: Buffer): void {
    this.#filling.add(table.put(key, value));
  }

  /** Writes what `fill` puts and removes. Resolves when that is committed, or was given up. Never rejects. */
  async write(fill: () => void): Promise<void> {
    if (this.#state !== 'open') return;
    try {
      fill();
      const promises = this.#filling;
      this.#filling = new Set();
      await Promise.all(promises);
    } catch (error) {
      this.#filling = new Set();
      // The library reports the cause with a second promise.
      const cause = (error as { commitError?: Promise<unknown> }).commitError;
      if (this.#state !== 'open') return void cause?.catch(() => undefined);
      this.#state = 'read-only';
      this.#onFailure('write', await Promise.resolve(cause).catch((reason: unknown) => reason));
    }
  }

  /** Deletes a table. */
  drop(table: Table): Promise<void> {
    return this.write(() => void this.#filling.add(table.drop()));
  }

  /** Waits for what is being written, and closes the file. Resolves to whether there was no error. */
  async close(): Promise<boolean> {
    await this.#root.flushed;
    await this.#root.close();
    return this.#state === 'open';
  }
}
