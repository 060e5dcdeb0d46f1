import { hash } from 'node:crypto';
import type { Environment, Table } from './environment.ts';

const SEAL_BYTES = 16;
/** Of the buffer that is hashed; it grows for longer values. */
const INITIAL_BYTES = 1024;
/** Far more than any value has: a length that was damaged is not followed. */
const MAX_BYTES = 1024 * 1024;
/** Entries that are copied before others have a turn. */
const COPIED_AT_ONCE = 4096;

/**
 * A table whose values are under a seal: half of the SHA-256 over a secret, table, key and value (cut, so that nobody can
 * lengthen what is sealed). What was damaged, moved to another key, or written by anybody else is not there. Without a
 * secret it seals against damage only.
 *
 * Long keys are cut: the seal covers the whole key, so the value of another key with the same beginning is not there.
 */
export class SealedTable {
  readonly #environment: Environment;
  readonly #keyBytes: number;
  /** Of what is sealed: the secret and the table. Keys of a table have one length, so it can be read in one way only. */
  readonly #prefix: Buffer;
  readonly #table: Table | null;
  /** What is hashed: the prefix, and then the key and the value of one entry. Reused, because joining buffers costs more. */
  #hashed: Buffer;

  /** `secret`: the user's run key; null for a user without one. `keyBytes`: how much of each key is stored. */
  constructor(environment: Environment, name: string, secret: Buffer | null, keyBytes: number) {
    this.#environment = environment;
    this.#keyBytes = keyBytes;
    this.#prefix = Buffer.concat([hash('sha256', secret ?? '', 'buffer'), Buffer.from(`${name}\0`)]);
    this.#hashed = Buffer.concat([this.#prefix], INITIAL_BYTES);
    this.#table = environment.table(name);
  }

  /** Null for missing keys, and when the store cannot be read. The next call overwrites the bytes. */
  get(key: Buffer): Buffer | null {
    const sealed = this.#table && this.#environment.get(this.#table, key.subarray(0, this.#keyBytes));
    if (sealed === null || sealed.length <= SEAL_BYTES || sealed.length > MAX_BYTES) return null;
    const value = sealed.subarray(SEAL_BYTES);
    const isIntact = this.#seal(key, value).compare(sealed, 0, SEAL_BYTES) === 0;
    return isIntact ? value : null;
  }

  /** Adds to the next transaction. */
  put(key: Buffer, value: Buffer): void {
    if (this.#table === null) return;
    const sealed = Buffer.allocUnsafe(SEAL_BYTES + value.length);
    this.#seal(key, value).copy(sealed);
    value.copy(sealed, SEAL_BYTES);
    this.#environment.put(this.#table, key.subarray(0, this.#keyBytes), sealed);
  }

  /** Number of entries that are written. */
  get count(): number {
    const table = this.#table;
    const stats: unknown = table && this.#environment.read<unknown>(() => table.getStats());
    return (stats as { entryCount: number } | null)?.entryCount ?? 0;
  }

  /**
   * Copies the entries that `isCopied`, by stored key and value, to another store with the same secret, under the seals that they have: their
   * keys are cut, so they are not checked. Rejects with the signal's reason when aborted.
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
