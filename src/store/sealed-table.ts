import { hash } from 'node:crypto';
import type { Environment, Table } from './environment.ts';

const SEAL_BYTES = 16;
/** Initial size of the buffer for hashing; it grows for longer values. */
const INITIAL_BYTES = 1024;
/** Limits the effect of a damaged length: no value is nearly as large. */
const MAX_BYTES = 1024 * 1024;
/** Entries to copy before yielding to the event loop. */
const COPIED_AT_ONCE = 4096;

/**
 * A table with sealed values: the seal is half of the SHA-256 over a secret, table, key and value (truncated to prevent
 * length extension). Values that were damaged, moved to another key, or written by anyone else count as missing.
 * Without a secret, the seal protects against damage only.
 *
 * Long keys are truncated: the seal covers the whole key, so the value of another key with the same beginning counts as
 * missing.
 */
export class SealedTable {
  readonly #environment: Environment;
  readonly #keyBytes: number;
  /**
   * Start of the sealed data: the secret and the table. Keys of a table have equal length, so the encoding is
   * unambiguous.
   */
  readonly #prefix: Buffer;
  readonly #table: Table | null;
  /** Data to hash: the prefix, then the key and the value of one entry. Reused, because joining buffers costs more. */
  #hashed: Buffer;

  /** `secret` is the user's run key, or null for a user without one. `keyBytes` is the stored length of each key. */
  constructor(environment: Environment, name: string, secret: Buffer | null, keyBytes: number) {
    this.#environment = environment;
    this.#keyBytes = keyBytes;
    this.#prefix = Buffer.concat([hash('sha256', secret ?? '', 'buffer'), Buffer.from(`${name}\0`)]);
    this.#hashed = Buffer.concat([this.#prefix], INITIAL_BYTES);
    this.#table = environment.table(name);
  }

  /** The value of a key; null if it is missing or the store cannot be read. The next call overwrites the bytes. */
  get(key: Buffer): Buffer | null {
    const sealed = this.#table && this.#environment.get(this.#table, key.subarray(0, this.#keyBytes));
    if (sealed === null || sealed.length <= SEAL_BYTES || sealed.length > MAX_BYTES) return null;
    const value = sealed.subarray(SEAL_BYTES);
    const isIntact = this.#seal(key, value).compare(sealed, 0, SEAL_BYTES) === 0;
    return isIntact ? value : null;
  }

  /** Adds an entry to the next transaction. */
  put(key: Buffer, value: Buffer): void {
    if (this.#table === null) return;
    const sealed = Buffer.allocUnsafe(SEAL_BYTES + value.length);
    this.#seal(key, value).copy(sealed);
    value.copy(sealed, SEAL_BYTES);
    this.#environment.put(this.#table, key.subarray(0, this.#keyBytes), sealed);
  }

  /** Number of written entries. */
  get count(): number {
    const table = this.#table;
    const stats: unknown = table && this.#environment.read<unknown>(() => table.getStats());
    return (stats as { entryCount: number } | null)?.entryCount ?? 0;
  }

  /**
   * Copies the entries selected by `isCopied`, by stored key and value, to another store with the same secret. Their
   * seals are copied unchecked, because stored keys are truncated. Rejects with the signal's reason when aborted.
   */
  async copyTo(
    other: SealedTable,
    isCopied: (key: Buffer, value: Buffer) => boolean,
    signal: AbortSignal,
  ): Promise<void> {
    let seen = 0;
    for (const { key, value } of this.#table?.getRange() ?? []) {
      if (isCopied(key, value.subarray(SEAL_BYTES)))
        other.#environment.put(other.#table!, key, Buffer.from(value));
      if (++seen % COPIED_AT_ONCE > 0) continue;
      await other.#environment.room();
      signal.throwIfAborted();
    }
  }

  #seal(key: Buffer, value: Buffer): Buffer {
    const start = this.#prefix.length;
    const end = start + key.length + value.length;
    if (end > this.#hashed.length) this.#hashed = Buffer.concat([this.#prefix], 2 * end);
    key.copy(this.#hashed, start);
    value.copy(this.#hashed, start + key.length);
    return hash('sha256', this.#hashed.subarray(0, end), 'buffer').subarray(0, SEAL_BYTES);
  }
}
