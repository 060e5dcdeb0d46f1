import { crc32 } from 'node:zlib';
import type { FileState } from '../files/file-state.ts';
import type { Environment, Table } from './environment.ts';

/** A media file that was read: all that an item needs of it but its caption. */
export interface ReadMedia {
  /** SHA-256 of its bytes, 64 hex digits. */
  readonly sha256: string;
  readonly modality: 'image' | 'audio';
}

const STATE_BYTES = 24;
const SHA256_BYTES = 32;
/** Size and times, the hash, the modality, and a CRC-32 over the key and all of these. */
const MODALITY_AT = STATE_BYTES + SHA256_BYTES;
const CHECK_AT = MODALITY_AT + 1;
const ENTRY_BYTES = CHECK_AT + 4;

const MODALITIES = ['image', 'audio'] as const;

/** Entries that are written in one transaction. */
const WRITTEN_AT_ONCE = 256;

/** Times of files have steps of up to 2 s (FAT): a file that is changed again within one keeps its time. */
const STEP_NS = 2_000_000_000n;

/** Entries that are copied in one transaction. */
const COPIED_AT_ONCE = 4096;

/** Media files by device and inode, for as long as size and times stay the same. */
export class FileHashes {
  readonly #environment: Environment;
  readonly #table: Table;
  #waiting: [key: Buffer, value: Buffer][] = [];
  #written: Promise<void> = Promise.resolve();

  constructor(environment: Environment) {
    this.#environment = environment;
    this.#table = environment.table('files');
  }

  find(state: FileState): ReadMedia | null {
    const key = keyOf(state);
    const value = this.#environment.get(this.#table, key);
    if (value === null || !isIntact(key, value)) return null;
    if (!stateOf(state).equals(value.subarray(0, STATE_BYTES))) return null;
    const modality = MODALITIES[value[MODALITY_AT]!];
    return modality === undefined
      ? null
      : { sha256: value.toString('hex', STATE_BYTES, MODALITY_AT), modality };
  }

  /** Copies all intact entries to another store. Rejects with the signal's reason when aborted. */
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
   * Adds a file whose state was the same after it was read. One that had just been changed when it was seen is left out:
   * it may change again without getting another time. Resolves when there is room for the next one.
   */
  async add(state: FileState, { sha256, modality }: ReadMedia): Promise<void> {
    const youngest = state.mtimeNs > state.ctimeNs ? state.mtimeNs : state.ctimeNs;
    if (BigInt(state.seenMs) * 1_000_000n - youngest < STEP_NS) return;
    const key = keyOf(state);
    const value = Buffer.concat([stateOf(state), Buffer.from(sha256, 'hex'), Buffer.alloc(5)]);
    value[MODALITY_AT] = MODALITIES.indexOf(modality);
    value.writeUInt32LE(checkOf(key, value), CHECK_AT);
    this.#waiting.push([key, value]);
    if (this.#waiting.length < WRITTEN_AT_ONCE) return;
    await this.#written;
    this.#written = this.flush();
  }

  /** Writes what waits. */
  async flush(): Promise<void> {
    const entries = this.#waiting;
    this.#waiting = [];
    await this.#environment.write(() => {
      for (const [key, value] of entries) this.#environment.put(this.#table, key, value);
    });
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
  return value.length === ENTRY_BYTES && value.readUInt32LE(CHECK_AT) === checkOf(key, value);
}

function checkOf(key: Buffer, value: Buffer): number {
  return crc32(value.subarray(0, CHECK_AT), crc32(key));
}
