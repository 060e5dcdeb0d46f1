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

/** Values by key, whose bytes are the characters. */
type Entries = Map<Table, Map<string, Buffer>>;

/** Told once per kind of failure. */
type OnFailure = (what: 'read' | 'write', error: unknown) => void;

/** The size of the file of the locks with so many readers, in bytes: two pages and a bit. */
const LOCK_BYTES = 12_288;
/** More than opening writes: some pages for each table. */
const ROOM_BYTES = 1024 * 1024;
/** How long a write may take, in milliseconds: another process that was stopped while it wrote holds the lock. */
const WRITE_MS = 30_000;
/**
 * A transaction copies each page that it touches, and hashes scatter entries over all pages: so few large ones. They
 * are this many milliseconds apart in a long run, unless so many entries wait. The first ones are not held up.
 */
const APART_MS = 2000;
const APART_MS_PER_TRANSACTION = 5;
const MAX_WAITING = 16_384;
/** How long closing waits for what is being written, in milliseconds. */
const CLOSE_MS = 10_000;

const BINARY = { encoding: 'binary', keyEncoding: 'binary' } as const;

/**
 * Every process opens the file with the same options: one with another size of the map has all others map the file again, and one of
 * them that reads at that moment dies.
 */
const FILE_OPTIONS = {
  ...BINARY,
  /** Address space that is reserved for the file, and so the largest file: some 300 million verdicts. */
  mapSize: 64 * 1024 ** 3,
  maxDbs: 8,
  maxReaders: 126,
  noSubdir: true,
  // The library's own batches reject promises that nobody can handle.
  eventTurnBatching: false,
  /**
   * When to write pages to disk is left to the system: a page that many transactions write reaches it a few times instead
   * of once for each. A process that is killed loses nothing. When the machine stops, the file may be damaged: it has no
   * note that it was closed then, and is replaced.
   */
  noSync: true,
} as const;

/**
 * An LMDB environment used as a cache: its entries can be recomputed, so any error disables it. After the first error
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
  /** Entries of the next transaction, and its end; those of the one that is being written, and the end of that. */
  #waiting: Entries = new Map();
  #next: Promise<void> | null = null;
  #written: Entries = new Map();
  #last: Promise<void> = Promise.resolve();
  #transactions = 0;
  /** Ends the pause between two transactions. */
  #due = new AbortController();

  /** Opens the environment in a folder that exists, or creates it. Throws the library's error, or the system's. */
  constructor(folder: string, onFailure: OnFailure) {
    prepareFiles(folder);
    this.#onFailure = onFailure;
    this.#root = open<Buffer, Buffer>({ path: join(folder, STORE_FILES.data), ...FILE_OPTIONS });
    opened.add(this);
    // A program that imports the library may capture its errors itself.
    if (opened.size > 1 || process.hasUncaughtExceptionCaptureCallback()) return;
    process.setUncaughtExceptionCaptureCallback(passUncaught);
    capturing = true;
  }

  /** A timer of the library failed: nothing more is read or written. */
  lost(error: unknown): void {
    this.#fail('read', error);
  }

  /** Opens a table, or creates it; null when that fails, or something failed before. */
  table(name: string): Table | null {
    if (this.#state !== 'open') return null;
    try {
      return this.#root.openDB<Buffer, Buffer>(name, BINARY);
    } catch (error) {
      this.#fail('write', error);
      return null;
    }
  }

  /** Whether everything was written so far. */
  get isWhole(): boolean {
    return this.#state === 'open';
  }

  /** What `read` makes of the tables; null when the environment is off, or when it fails. */
  read<T>(read: () => T): T | null {
    if (this.#state === 'off') return null;
    try {
      return read();
    } catch (error) {
      this.#fail('read', error);
      return null;
    }
  }

  /** The value of a key; null for missing keys. What is not written yet is found as well. */
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

  /** Resolves when there is room for more entries, or when nothing is stored any more. Never rejects. */
  async room(): Promise<void> {
    if (this.#due.signal.aborted) await this.#last;
  }

  /** Writes what waits. Resolves when that is over. */
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

  /** In the order of the keys: neighbours are put into pages that were just copied. All share the batch's promise. */
  #putWritten(): void {
    for (const [table, entries] of this.#written) {
      for (const key of [...entries.keys()].sort()) {
        void table.put(Buffer.from(key, 'latin1'), entries.get(key)!);
      }
    }
  }

  /**
   * Waits for what is being written, and closes the file. Resolves to whether all of it is on disk. After an error, or
   * when a stopped process holds the lock, the library would wait for ever: then the file is closed with this process.
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

/** The library has timers of its own, whose errors nobody can catch. One of them must not end a run: this is a cache. */
function passUncaught(error: unknown): void {
  const isOfLibrary = error instanceof Error && /[\\/]node_modules[\\/]lmdb[\\/]/.test(error.stack ?? '');
  if (isOfLibrary) for (const environment of opened) environment.lost(error);
  else if (!(process as EventEmitter).emit('uncaughtException', error, 'uncaughtException')) {
    // As without this callback: Node prints the error and ends with status 1.
    process.setUncaughtExceptionCaptureCallback(null);
    setImmediate(() => {
      throw error;
    });
  }
}

/** What a promise resolves to; null when that takes longer. Keeps the process: one that waits for the library alone would end. */
async function within<T>(ms: number, result: Promise<T>): Promise<T | null> {
  const over = new AbortController();
  const late = delay(ms, null, { signal: over.signal }).catch(() => null);
  return Promise.race([result, late]).finally(() => over.abort());
}

/**
 * Creates the files with our mode, and reserves what a full disk would make the library end this process for: room for
 * the first pages, and the file of the locks, which it maps.
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

/** The library's own errors that have a remedy. */
const OF_LMDB: Readonly<Record<number, string>> = {
  [-30_792]: 'the store has its largest size: run guardsweep gc',
  [-30_791]: 'too many runs use it',
};

/** The reason of a failure in words: the library gives system errors by their numbers. */
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
