import type { ReadMedia } from '../domain/request.ts';
import type { FileState } from '../files/file-state.ts';
import type { Environment } from './environment.ts';
import { SealedTable } from './sealed-table.ts';

type Row = readonly [state: string, sha256: string, modality: ReadMedia['modality']];

/** Entries that may wait to be written. */
const MAX_WAITING = 2048;

/** Times of files have steps of up to 2 s (FAT): a file that is changed again within one keeps its time. */
const STEP_NS = 2_000_000_000n;

/** Media files by device and inode, for as long as size and times stay the same. */
export class FileHashes {
  readonly #environment: Environment;
  readonly #table: SealedTable<Row>;
  #waiting = 0;

  constructor(environment: Environment, key: Buffer | null) {
    this.#environment = environment;
    this.#table = new SealedTable(environment, 'files', key);
  }

  find(state: FileState): ReadMedia | null {
    const row = this.#table.get(deviceAndInode(state));
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
    const row: Row = [stateOf(state), sha256, modality];
    const written = this.#environment.write(1, () => this.#table.put(deviceAndInode(state), row));
    if (++this.#waiting < MAX_WAITING) return;
    this.#waiting = 0;
    await written;
  }
}

function deviceAndInode({ dev, ino }: FileState): Buffer {
  const key = Buffer.alloc(16);
  key.writeBigUInt64LE(BigInt.asUintN(64, dev), 0);
  key.writeBigUInt64LE(BigInt.asUintN(64, ino), 8);
  return key;
}

function stateOf({ size, mtimeNs, ctimeNs }: FileState): string {
  return `${size} ${mtimeNs} ${ctimeNs}`;
}
