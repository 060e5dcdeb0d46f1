import { closeSync, fstatSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { open, type Database, type RootDatabase } from 'lmdb';
import { FILE_MODE } from '../files/create-file.ts';
import { STORE_FILES } from '../files/store-files.ts';

/** A table of an environment: bytes to bytes. */
export type Table = Database<Buffer, Buffer>;

/** Address space that is reserved for the file, and so the largest file: some 300 million verdicts. */
const MAP_BYTES = 64 * 1024 ** 3;

/** Tables open at a time: the fixed ones, and one per pass whose copies are being looked for. */
const MAX_TABLES = 128;

/** Told once per kind of failure. */
type OnFailure = (what: 'read' | 'write', error: unknown) => void;

/** Readers' slots, and with them the size of the file of the locks, in bytes: two pages and a bit. */
const MAX_READERS = 126;
const LOCK_BYTES = 12_288;

/** More than opening writes: some pages for each table. */
const ROOM_BYTES = 1024 * 1024;

/** How long a write may take, in milliseconds: another process that was stopped while it wrote holds the lock. */
const WRITE_MS = 30_000;

/** How long closing waits for what is being written, in milliseconds. */
const CLOSE_MS = 10_000;

const BINARY = { encoding: 'binary', keyEncoding: 'binary' } as const;

/**
 * An LMDB environment that may fail at any time, because everything in it can be had again: after the first error
 * nothing more is read, or written, and the owner is told once.
 *
 *            write fails (disk full, or the lock is not free for long)
 *     open ─────────────────────────► read-only
 *      │                                │
 *      └─────────── read fails ─────────┴──────► off
 */
export class Environment {
  readonly #root: RootDatabase<Buffer, Buffer>;
  readonly #onFailure: OnFailure;
  #state: 'open' | 'read-only' | 'off' = 'open';

  private constructor(root: RootDatabase<Buffer, Buffer>, onFailure: OnFailure) {
    this.#root = root;
    this.#onFailure = onFailure;
  }

  /**
   * Opens the environment in a folder that exists, or creates it. The caller has checked that the file is undamaged: it
   * is mapped into memory. Throws the library's error.
   */
  static open(folder: string, onFailure: OnFailure): Environment {
    const path = join(folder, STORE_FILES.data);
    assertRoom(folder);
    reserveLockFile(folder);
    const root = open<Buffer, Buffer>({
      path,
      ...BINARY,
      mapSize: MAP_BYTES,
      maxDbs: MAX_TABLES,
      maxReaders: MAX_READERS,
      noSubdir: true,
      // The library's own batches reject promises that nobody can handle.
      eventTurnBatching: false,
    });
    return new Environment(root, onFailure);
  }

  /** Opens a table, or creates it. Throws the library's error. */
  table(name: string): Table {
    return this.#root.openDB<Buffer, Buffer>(name, BINARY);
  }

  /** The same; null when that fails, or failed before. */
  tableOrNull(name: string): Table | null {
    if (this.#state !== 'open') return null;
    try {
      return this.table(name);
    } catch (error) {
      this.#state = 'read-only';
      this.#onFailure('write', error);
      return null;
    }
  }

  /** Whether everything was written so far. */
  get isWhole(): boolean {
    return this.#state === 'open';
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
    // Within a batch, the promise of the batch stands for all.
    void table.put(key, value);
  }

  /** Deletes a table as a part of the write that is being filled. */
  drop(table: Table): void {
    void table.drop();
  }

  /** Writes what `fill` puts, in one transaction. Resolves when that is committed, or was given up. Never rejects. */
  async write(fill: () => void): Promise<void> {
    if (this.#state !== 'open') return;
    const over = new AbortController();
    try {
      const written = this.#root.batch(fill);
      const late = delay(WRITE_MS, true, { signal: over.signal, ref: false }).catch(() => false);
      if ((await Promise.race([written.then(() => false), late])) && this.#state === 'open') {
        this.#state = 'read-only';
        this.#onFailure('write', Object.assign(new Error('the lock is held'), { code: 'EBUSY' }));
      }
    } catch (error) {
      // The library gives the cause as a second promise.
      const { commitError = error } = error as { commitError?: unknown };
      const cause: unknown = await Promise.resolve(commitError).catch((reason: unknown) => reason);
      if (this.#state !== 'open') return;
      this.#state = 'read-only';
      this.#onFailure('write', cause);
    } finally {
      over.abort();
    }
  }

  /**
   * Waits for what is being written, and closes the file. Resolves to whether all of it is on disk. After an error, or
   * when a stopped process holds the lock, the library would wait for ever: then the file is closed with this process.
   */
  async close(): Promise<boolean> {
    if (this.#state !== 'open') return false;
    const over = new AbortController();
    const late = delay(CLOSE_MS, false, { signal: over.signal, ref: false }).catch(() => false);
    const closed = this.#root.close().then(() => true);
    try {
      return await Promise.race([closed, late]);
    } finally {
      over.abort();
    }
  }
}

/** On a full disk, opening would end this process. Throws the system's error when there is no room. */
function assertRoom(folder: string): void {
  const path = join(folder, `room-${process.pid}.tmp`);
  try {
    writeFileSync(path, Buffer.alloc(ROOM_BYTES), { mode: FILE_MODE });
  } finally {
    rmSync(path, { force: true });
  }
}

/** LMDB maps the file of its locks, too, and a page that has no place on a full disk would end this process. */
function reserveLockFile(folder: string): void {
  const file = openSync(join(folder, STORE_FILES.lock), 'a', FILE_MODE);
  try {
    const missing = LOCK_BYTES - fstatSync(file).size;
    if (missing > 0) writeSync(file, Buffer.alloc(missing));
  } finally {
    closeSync(file);
  }
}
