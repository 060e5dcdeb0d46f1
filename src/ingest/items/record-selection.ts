import { hash } from 'node:crypto';
import type { Trial } from '../../config/run-config.ts';
import type { RecordCounts } from '../plan/plan-line.ts';

/** Digits of a hash that fit a number exactly: 48 bits. */
const HASH_DIGITS = 12;

/**
 * Selects and counts the records that a trial judges; a file that is one item counts as a record. Whether a record is
 * in a sample depends only on the seed, its source and its row. The first records are those in corpus order.
 */
export class RecordSelection {
  readonly #trial: Trial;
  #read = 0;
  #selected = 0;
  #lastFile: { readonly path: string; readonly isSelected: boolean } | null = null;

  constructor(trial: Trial) {
    this.#trial = trial;
  }

  get counts(): RecordCounts {
    return { read: this.#read, selected: this.#selected };
  }

  /** Continues from the counts of an earlier process. */
  restore({ read, selected }: RecordCounts): void {
    this.#read = read;
    this.#selected = selected;
  }

  /** Whether no further record is judged. */
  get isOver(): boolean {
    return this.#trial.limit !== null && this.#selected >= this.#trial.limit;
  }

  /**
   * Counts the next record of a source; `row` is null for a whole file, which is counted once even if requested
   * repeatedly. Returns whether it is judged.
   */
  take(path: string, row: number | null): boolean {
    if (row === null && this.#lastFile?.path === path) return this.#lastFile.isSelected;
    if (this.isOver) return false;
    this.#read++;
    const isSelected = this.#isChosen(path, row);
    if (isSelected) this.#selected++;
    if (row === null) this.#lastFile = { path, isSelected };
    return isSelected;
  }

  /** Whether the wrapper object of a file's records is judged. It is not counted. */
  takeAround(path: string, row: number): boolean {
    return !this.isOver && this.#isChosen(path, row);
  }

  /** Counts records that cannot be read: each has an outcome, even if it would not have been selected. */
  addUnreadable(records: number): void {
    this.#read += records;
    this.#selected += records;
  }

  #isChosen(path: string, row: number | null): boolean {
    const { sample, seed } = this.#trial;
    if (sample === null) return true;
    const digest = hash('sha256', `${seed}\n${row ?? ''}\n${path}`);
    return Number.parseInt(digest.slice(0, HASH_DIGITS), 16) / 16 ** HASH_DIGITS < sample;
  }
}
