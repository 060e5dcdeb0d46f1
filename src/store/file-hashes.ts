import type { ReadMedia } from '../domain/request.ts';
import type { FileState } from '../files/file-state.ts';
import type { Environment } from './environment.ts';
import { SealedTable } from './sealed-table.ts';

type Row = readonly [state: string, sha256: string, modality: ReadMedia['modality']];

const KEY_BYTES = 16;

/** File times have steps of up to 2 s (FAT): a file that is changed again within one step keeps its time. */
const STEP_NS = 2_000_000_000n;

/** Media files by device and inode, valid as long as size and times stay the same. */
export class FileHashes {
  readonly #environment: Environment;
  readonly #table: SealedTable;

  constructor(environment: Environment, key: Buffer | null) {
    this.#environment = environment;
    this.#table = new SealedTable(environment, 'files', key, KEY_BYTES);
  }

  find(state: FileState): ReadMedia | null {
    const bytes = this.#table.get(deviceAndInode(state));
    if (bytes === null) return null;
    const [known, sha256, modality] = JSON.parse(bytes.toString()) as Row;
    return known === stateOf(state) ? { sha256, modality } : null;
  }

  /** Copies all entries to another store. Rejects with the signal's reason when aborted. */
  copyTo(other: FileHashes, signal: AbortSignal): Promise<void> {
    return this.#table.copyTo(other.#table, () => true, signal);
  }

  /**
   * Adds a file whose state was the same after it was read. A file that had just been changed is skipped: it may change
   * again without getting another time. Resolves when there is room for the next one.
   */
  async add(state: FileState, { sha256, modality }: ReadMedia): Promise<void> {
    const youngest = state.mtimeNs > state.ctimeNs ? state.mtimeNs : state.ctimeNs;
    if (BigInt(state.seenMs) * 1_000_000n - youngest < STEP_NS) return;
    const row: Row = [stateOf(state), sha256, modality];
    this.#table.put(deviceAndInode(state), Buffer.from(JSON.stringify(row)));
    await this.#environment.room();
  }
}

function deviceAndInode({ dev, ino }: FileState): Buffer {
  const key = Buffer.alloc(KEY_BYTES);
  key.writeBigUInt64LE(BigInt.asUintN(64, dev), 0);
  key.writeBigUInt64LE(BigInt.asUintN(64, ino), 8);
  return key;
}

function stateOf({ size, mtimeNs, ctimeNs }: FileState): string {
  return `${size} ${mtimeNs} ${ctimeNs}`;
}
