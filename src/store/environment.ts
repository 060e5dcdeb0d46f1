import type { EventEmitter } from 'node:events';
import { closeSync, fstatSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { getSystemErrorName } from 'node:util';
import { open, type Database, type RootDatabase } from 'lmdb';
import { FILE_MODE } from '../files/create-file.ts';
import { STORE_FILES } from '../files/store-files.ts';

/** A table of an environment: bytes to bytes. */
export type Table = Database<Buffer, Buffer>;

/** Values by key; keys are buffers as binary strings. */
type Entries = Map<Table, Map<string, Buffer>>;

/** Called once per kind of failure. */
type OnFailure = (what: 'read' | 'write', error: unknown) => void;

/** Size of the lock file for this number of readers, in bytes: a little over two pages. */
const LOCK_BYTES = 12_288;
/** More than opening writes: some pages for each table. */
const ROOM_BYTES = 1024 * 1024;
/** Maximum duration of a write, in milliseconds: a process that was stopped while writing still holds the lock. */
const WRITE_MS = 30_000;
/**
 * Minimum interval between transactions in a long run, in milliseconds, unless the maximum number of entries waits. A
 * transaction copies each page that it touches, and hashes scatter entries over all pages, so few large transactions
 * are better. The first ones are not delayed.
 */
const APART_MS = 2000;
const APART_MS_PER_TRANSACTION = 5;
const MAX_WAITING = 16_384;
/** How long closing waits for pending writes, in milliseconds. */
const CLOSE_MS = 10_000;

const BINARY = { encoding: 'binary', keyEncoding: 'binary' } as const;

/**
 * TRAP: all processes must open the file with the same options. A different map size forces the others to remap the
 * file, which crashes any that is reading.
 */
const FILE_OPTIONS = {
  ...BINARY,
  /** Address space reserved for the file, and so its maximum size: some 300 million verdicts. */
  mapSize: 64 * 1024 ** 3,
  maxDbs: 8,
  maxReaders: 126,
  noSubdir: true,
  // The library's own batches reject promises that nobody can handle.
  eventTurnBatching: false,
  /**
   * Leaves flushing to the system: a page that many transactions write reaches the disk a few times instead of once for
   * each. Nothing is lost if a process is killed. If the machine stops, the file may be damaged: it then has no note
   * that it was closed, and is replaced.
   */
  noSync: true,
} as const;

/**
 * An LMDB environment used as a cache: its entries can be recomputed, so any error disables it. After the first error
 * nothing more is read or written, and the owner is notified once.
 *
 *           write fails (disk full, or the lock is not free for long)
 *     open ─────────────────────────► read-only
 *     │                                │
 *     └─────────── read fails ─────────┴──────► off
 */
export class Environment {
  readonly #root: RootDatabase<Buffer, Buffer>;
  readonly #onFailure: OnFailure;
  #state: 'open' | 'read-only' | 'off' = 'open';
  /** Entries of the next transaction and its promise, then those of the one being written. */
  #waiting: Entries = new Map();
  #next: Promise<void> | null = null;
  #written: Entries = new Map();
  #last: Promise<void> = Promise.resolve();
  #transactions = 0;
  /** Ends the pause between two transactions. */
  #due = new AbortController();

  /** Opens the environment in an existing folder, or creates it. Throws the library's error or the system's. */
  constructor(folder: string, onFailure: OnFailure) {
    prepareFiles(folder);
    this.#onFailure = onFailure;
    this.#root = open<Buffer, Buffer>({ path: join(folder, STORE_FILES.data), ...FILE_OPTIONS });
    opened.add(this);
    // A program that imports the library may capture uncaught errors itself.
    if (opened.size > 1 || process.hasUncaughtExceptionCaptureCallback()) return;
    process.setUncaughtExceptionCaptureCallback(passUncaught);
    capturing = true;
  }

  /** Called when a timer of the library failed: nothing more is read or written. */
  lost(error: unknown): void {
    this.#fail('read', error);
  }

  /** Opens a table, or creates it; null when that or an earlier operation fails. */
  table(name: string): Table | null {
    if (this.#state !== 'open') return null;
    try {
      return this.#root.openDB<Buffer, Buffer>(name, BINARY);
    } catch (error) {
      this.#fail('write', error);
      return null;
    }
  }

  /** Whether every write so far succeeded. */
  get isWhole(): boolean {
    return this.#state === 'open';
  }

  /** Returns the result of `read`; null when the environment is off or reading fails. */
  read<T>(read: () => T): T | null {
    if (this.#state === 'off') return null;
    try {
      return read();
    } catch (error) {
      this.#fail('read', error);
      return null;
    }
  }

  /** The value of a key, even if it is not written yet; null for missing keys. */
  get(table: Table, key: Buffer): Buffer | null {
    return this.read(() => {
      if (this.#next !== null || this.#written.size > 0) {
        const name = key.toString('latin1');
        const unwritten = this.#waiting.get(table)?.get(name) ?? this.#written.get(table)?.get(name);
        if (unwritten !== undefined) return unwritten;
      }
      const bytes = table.getBinaryFast(key);
      // The library sets the length of one large buffer, which the next call overwrites.
      return bytes === undefined ? null : bytes.subarray(0, bytes.length);
    });
  }

  /** Adds an entry to the next transaction. */
  put(table: Table, key: Buffer, value: Buffer): void {
    if (this.#state !== 'open') return;
    let entries = this.#waiting.get(table);
    if (entries === undefined) this.#waiting.set(table, (entries = new Map<string, Buffer>()));
    entries.set(key.toString('latin1'), value);
    if (entries.size >= MAX_WAITING) this.#due.abort();
    this.#next ??= this.#commitNext();
  }

  /** Resolves when there is room for more entries, or when writing is off. Never rejects. */
  async room(): Promise<void> {
    if (this.#due.signal.aborted) await this.#last;
  }

  /** Writes the waiting entries. Resolves when done. */
  async flush(): Promise<void> {
    this.#due.abort();
    await this.#next;
    await this.#last;
  }

  async #commitNext(): Promise<void> {
    await this.#last;
    const pause = Math.min(APART_MS, APART_MS_PER_TRANSACTION * this.#transactions++);
    await delay(pause, null, { signal: this.#due.signal }).catch(() => undefined);
    this.#written = this.#waiting;
    this.#waiting = new Map();
    this.#due = new AbortController();
    this.#next = null;
    await (this.#last = this.#commit());
  }

  async #commit(): Promise<void> {
    try {
      if (this.#state !== 'open') return;
      const written = await within(
        WRITE_MS,
        this.#root.batch(() => this.#putWritten()).then(() => true),
      );
      if (written === null) this.#fail('write', { code: 'EBUSY' });
    } catch (error) {
      // The library gives the cause as a second promise.
      const cause: unknown = (error as { commitError?: unknown } | undefined)?.commitError ?? error;
      this.#fail('write', await Promise.resolve(cause).catch((reason: unknown) => reason));
    }
    this.#written = new Map();
  }

  /** Writes in key order, so adjacent keys go into pages that were just copied. All puts share the batch's promise. */
  #putWritten(): void {
    for (const [table, entries] of this.#written) {
      for (const key of [...entries.keys()].sort()) {
        void table.put(Buffer.from(key, 'latin1'), entries.get(key)!);
      }
    }
  }

  /**
   * Waits for pending writes, and closes the file. Resolves to whether everything is on disk. After an error, or when a
   * stopped process holds the lock, the library would wait forever: the file is then closed when this process ends.
   */
  async close(): Promise<boolean> {
    await this.flush();
    if (opened.delete(this) && opened.size === 0 && capturing) {
      process.setUncaughtExceptionCaptureCallback(null);
      capturing = false;
    }
    if (this.#state !== 'open') return false;
    this.#state = 'off';
    const closed = this.#root.close().then(
      () => true,
      () => false,
    );
    return (await within(CLOSE_MS, closed)) ?? false;
  }

  #fail(what: 'read' | 'write', error: unknown): void {
    const isNew = what === 'read' ? this.#state !== 'off' : this.#state === 'open';
    if (!isNew) return;
    this.#state = what === 'read' ? 'off' : 'read-only';
    this.#onFailure(what, error);
  }
}

/** The open environments of this thread. */
const opened = new Set<Environment>();
let capturing = false;

/** Handles errors of the library's own timers, which nobody can catch. They must not end a run: this is a cache. */
function passUncaught(error: unknown): void {
  const isOfLibrary = error instanceof Error && /[\\/]node_modules[\\/]lmdb[\\/]/.test(error.stack ?? '');
  if (isOfLibrary) for (const environment of opened) environment.lost(error);
  else if (!(process as EventEmitter).emit('uncaughtException', error, 'uncaughtException')) {
    // Same as without this callback: Node prints the error and ends with status 1.
    process.setUncaughtExceptionCaptureCallback(null);
    setImmediate(() => {
      throw error;
    });
  }
}

/**
 * The result of a promise; null after a timeout. Keeps the process alive: it would end if it only waited for the
 * library.
 */
async function within<T>(ms: number, result: Promise<T>): Promise<T | null> {
  const over = new AbortController();
  const late = delay(ms, null, { signal: over.signal }).catch(() => null);
  return Promise.race([result, late]).finally(() => over.abort());
}

/**
 * Creates the files with our mode, and reserves space for the first pages and for the lock file, which the library
 * maps: on a full disk, the library would otherwise end this process.
 */
function prepareFiles(folder: string): void {
  const room = join(folder, `room-${process.pid}.tmp`);
  try {
    writeFileSync(room, Buffer.alloc(ROOM_BYTES), { mode: FILE_MODE });
  } finally {
    rmSync(room, { force: true });
  }
  closeSync(openSync(join(folder, STORE_FILES.data), 'a', FILE_MODE));
  const lock = openSync(join(folder, STORE_FILES.lock), 'a', FILE_MODE);
  try {
    const missing = LOCK_BYTES - fstatSync(lock).size;
    if (missing > 0) writeSync(lock, Buffer.alloc(missing));
  } finally {
    closeSync(lock);
  }
}

/** Fixes for the library's own errors. */
const OF_LMDB: Readonly<Record<number, string>> = {
  [-30_792]: 'the store has its largest size: run guardsweep gc',
  [-30_791]: 'too many runs use it',
};

/** Describes the cause of a failure: the library reports system errors by number. */
export function causeOf(error: unknown): string {
  const code: unknown = (error as { code?: unknown } | null | undefined)?.code;
  if (typeof code === 'string') return code;
  if (typeof code !== 'number') return 'unknown error';
  if (code < 0) return OF_LMDB[code] ?? `LMDB error ${code}`;
  try {
    return getSystemErrorName(-code);
  } catch {
    return `error ${code}`;
  }
}
