import type { FileState } from '../files/file-state.ts';
import type { Environment } from './environment.ts';
import { SealedTable } from './sealed-table.ts';

/** A media file that was read: all that an item needs of it but its caption. */
export interface ReadMedia {
  /** SHA-256 of its bytes, 64 hex digits. */
  readonly sha256: string;
  readonly modality: 'image' | 'audio';
}

type Row = readonly [state: string, sha256: string, modality: ReadMedia['modality']];

/** Entries that are written in one transaction. */
const WRITTEN_AT_ONCE = 256;

/** Times of files have steps of up to 2 s (FAT): a file that is changed again within one keeps its time. */
const STEP_NS = 2_000_000_000n;

/** Media files by device and inode, for as long as size and times stay the same. */
export class FileHashes {
  readonly #environment: Environment;
  readonly #table: SealedTable<Row>;
  #waiting: (readonly [key: Buffer, row: Row])[] = [];
  #written: Promise<void> = Promise.resolve();

  constructor(environment: Environment, key: Buffer | null) {
    this.#environment = environment;
    this.#table = new SealedTable(environment, 'files', key);
  }

  find(state: FileState): ReadMedia | null {
    const row = this.#table.get(keyOf(state));
    return row === null || row[0] !== stateOf(state) ? null : { sha256: row[1], modality: row[2] };
  }

  /** Copies all entries to another store. Rejects with the signal's reason when aborted. */
  copyTo(other: FileHashes, signal: AbortSignal): Promise<void> {
    return this.#table.copyTo(other.#table, () => true, signal);
  }

  /**
   * Adds a file whose state was the same after it was read. One that had just been changed when it was seen is left out:
   * it may change again without getting another time. Resolves when there is room for the next one.
   */
  async add(state: FileState, { sha256, modality }: ReadMedia): Promise<void> {
    const youngest = state.mtimeNs > state.ctimeNs ? state.mtimeNs : state.ctimeNs;
    if (BigInt(state.seenMs) * 1_000_000n - youngest < STEP_NS) return;
    this.#waiting.push([keyOf(state), [stateOf(state), sha256, modality]]);
    if (this.#waiting.length < WRITTEN_AT_ONCE) return;
    await this.#written;
    this.#written = this.flush();
  }

  /** Writes what waits. */
  async flush(): Promise<void> {
    const rows = this.#waiting;
    this.#waiting = [];
    if (rows.length === 0) return;
    await this.#environment.write(rows.length, () => {
      for (const [key, row] of rows) this.#table.put(key, row);
    });
  }
}

function keyOf({ dev, ino }: FileState): Buffer {
  const key = Buffer.alloc(16);
  key.writeBigUInt64LE(BigInt.asUintN(64, dev), 0);
  key.writeBigUInt64LE(BigInt.asUintN(64, ino), 8);
  return key;
}

function stateOf({ size, mtimeNs, ctimeNs }: FileState): string {
  return `${size} ${mtimeNs} ${ctimeNs}`;
}
