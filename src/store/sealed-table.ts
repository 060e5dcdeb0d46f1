import { hash } from 'node:crypto';
import { pack, unpack } from 'msgpackr';
import type { Environment, Table } from './environment.ts';

const SEAL_BYTES = 16;
/** Of the buffer that is hashed; it grows for longer values. */
const INITIAL_BYTES = 1024;
/** Far more than any value has: a length that was damaged is not followed. */
const MAX_BYTES = 1024 * 1024;
/** Entries that are copied in one transaction. */
const COPIED_AT_ONCE = 4096;

/**
 * A table whose values are MessagePack under a seal: half of the SHA-256 over a secret, table, key and value (cut, so
 * that nobody can lengthen what is sealed). What was damaged, moved to another key, or written by anybody else is not
 * there. Without a key it seals against damage only.
 */
export class SealedTable<T> {
  readonly #environment: Environment;
  /** Of what is sealed: the secret and the table. Keys of a table have one length, so it can be read in one way only. */
  readonly #prefix: Buffer;
  readonly #table: Table | null;
  /** What is hashed: the prefix, and then the key and the value of one entry. Reused, because joining buffers costs more. */
  #hashed: Buffer;

  /** `key`: the user's run key; null for a user without one. */
  constructor(environment: Environment, name: string, key: Buffer | null) {
    this.#environment = environment;
    this.#prefix = Buffer.concat([hash('sha256', key ?? '', 'buffer'), Buffer.from(`${name}\0`)]);
    this.#hashed = Buffer.concat([this.#prefix], INITIAL_BYTES);
    this.#table = environment.table(name);
  }

  /** Null for missing keys, and when the store cannot be read. */
  get(key: Buffer): T | null {
    const table = this.#table;
    if (table === null) return null;
    return this.#environment.read(() => {
      const bytes = table.getBinaryFast(key);
      // The library sets the length of one large buffer, which the next call overwrites.
      return bytes === undefined ? null : this.#opened(key, bytes.subarray(0, bytes.length));
    });
  }

  /** Adds to the write that is being filled. The key must not change until that is committed. */
  put(key: Buffer, value: T): void {
    const packed = pack(value);
    const sealed = Buffer.allocUnsafe(SEAL_BYTES + packed.length);
    this.#seal(key, packed).copy(sealed);
    packed.copy(sealed, SEAL_BYTES);
    // All items of a batch share its promise.
    void this.#table?.put(key, sealed);
  }

  /** Number of entries. */
  get count(): number {
    const table = this.#table;
    const stats: unknown = table && this.#environment.read<unknown>(() => table.getStats());
    return (stats as { entryCount: number } | null)?.entryCount ?? 0;
  }

  /** Copies the entries that `isCopied` to another store. Rejects with the signal's reason when aborted. */
  async copyTo(other: SealedTable<T>, isCopied: (value: T) => boolean, signal: AbortSignal): Promise<void> {
    let batch: (readonly [key: Buffer, value: T])[] = [];
    const write = async (): Promise<void> => {
      const entries = batch;
      batch = [];
      await other.#environment.write(entries.length, () =>
        entries.forEach(([key, value]) => other.put(key, value)),
      );
      signal.throwIfAborted();
    };
    for (const { key, value: bytes } of this.#table?.getRange() ?? []) {
      const value = this.#opened(key, bytes);
      if (value !== null && isCopied(value)) batch.push([key, value]);
      if (batch.length >= COPIED_AT_ONCE) await write();
    }
    await write();
  }

  #opened(key: Buffer, bytes: Buffer): T | null {
    const packed = bytes.subarray(SEAL_BYTES);
    if (bytes.length <= SEAL_BYTES || bytes.length > MAX_BYTES) return null;
    const isIntact = this.#seal(key, packed).equals(bytes.subarray(0, SEAL_BYTES));
    return isIntact ? (unpack(packed) as T) : null;
  }

  #seal(key: Buffer, packed: Buffer): Buffer {
    const start = this.#prefix.length;
    const end = start + key.length + packed.length;
    if (end > this.#hashed.length) this.#hashed = Buffer.concat([this.#prefix], 2 * end);
    key.copy(this.#hashed, start);
    packed.copy(this.#hashed, start + key.length);
    return hash('sha256', this.#hashed.subarray(0, end), 'buffer').subarray(0, SEAL_BYTES);
  }
}
