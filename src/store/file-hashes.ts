import { crc32 } from 'node:zlib';
import type { BigIntStats } from 'node:fs';
import type { Environment, Table } from './environment.ts';

/** What tells that a file is the one that was read before, from a `stat` of the open file before it is read. */
export interface FileState extends Pick<BigIntStats, 'dev' | 'ino' | 'size' | 'mtimeNs' | 'ctimeNs'> {
  /** When that was, in milliseconds since 1970. */
  readonly seenMs: number;
}

const STATE_BYTES = 24;
const SHA256_BYTES = 32;
/** Size and times, the hash, and a CRC-32 over the key and both. */
const ENTRY_BYTES = STATE_BYTES + SHA256_BYTES + 4;

/** Times of files have steps of up to 2 s (FAT): a file that is changed again within one keeps its time. */
const STEP_NS = 2_000_000_000n;

/** Entries that are copied in one transaction. */
const COPIED_AT_ONCE = 4096;

/** Hashes of files by device and inode, for as long as size and times stay the same. */
export class FileHashes {
  readonly #environment: Environment;
  readonly #table: Table;

  constructor(environment: Environment) {
    this.#environment = environment;
    this.#table = environment.table('files');
  }

  find(state: FileState): string | null {
    const key = keyOf(state);
    const value = this.#environment.get(this.#table, key);
    if (value === null || !isIntact(key, value)) return null;
    if (!stateOf(state).equals(value.subarray(0, STATE_BYTES))) return null;
    return value.toString('hex', STATE_BYTES, STATE_BYTES + SHA256_BYTES);
  }

  /** Copies all intact hashes to another store. Rejects with the signal's reason when aborted. */
  async copyTo(other: FileHashes, signal: AbortSignal): Promise<void> {
    let batch: { key: Buffer; value: Buffer }[] = [];
    const write = async (): Promise<void> => {
      const written = batch;
      batch = [];
      await other.#environment.write(() => {
        for (const { key, value } of written) other.#environment.put(other.#table, key, value);
      });
      signal.throwIfAborted();
    };
    for (const entry of this.#table.getRange()) {
      if (isIntact(entry.key, entry.value)) batch.push(entry);
      if (batch.length >= COPIED_AT_ONCE) await write();
    }
    await write();
  }

  /**
   * Adds the hash of a file whose state was the same after it was read, as a part of the write that is being filled. A
   * file that had just been changed when it was seen is left out: it may change again without getting another time.
   */
  put(state: FileState, sha256: string): void {
    const youngest = state.mtimeNs > state.ctimeNs ? state.mtimeNs : state.ctimeNs;
    if (BigInt(state.seenMs) * 1_000_000n - youngest < STEP_NS) return;
    const key = keyOf(state);
    const value = Buffer.concat([stateOf(state), Buffer.from(sha256, 'hex'), Buffer.alloc(4)]);
    value.writeUInt32LE(checkOf(key, value), ENTRY_BYTES - 4);
    this.#environment.put(this.#table, key, value);
  }
}

function keyOf({ dev, ino }: FileState): Buffer {
  return words(dev, ino);
}

function stateOf({ size, mtimeNs, ctimeNs }: FileState): Buffer {
  return words(size, mtimeNs, ctimeNs);
}

function words(...values: bigint[]): Buffer {
  const bytes = Buffer.alloc(8 * values.length);
  values.forEach((value, index) => bytes.writeBigUInt64LE(BigInt.asUintN(64, value), 8 * index));
  return bytes;
}

function isIntact(key: Buffer, value: Buffer): boolean {
  return value.length === ENTRY_BYTES && value.readUInt32LE(ENTRY_BYTES - 4) === checkOf(key, value);
}

function checkOf(key: Buffer, value: Buffer): number {
  return crc32(value.subarray(0, ENTRY_BYTES - 4), crc32(key));
}
