import type { FrozenSource } from '../ingest/plan/plan-line.ts';
import type { ShardCounts } from '../record/log/chain-line.ts';

/** How far planning has got. */
export interface PlanProgress {
  /** More items were read and planned. */
  planned(items: number): void;
  /** Bytes read of the source that is being read. */
  sourceAt(bytes: number): void;
  sourceDone(source: FrozenSource): void;
  /** Nothing more will be planned. */
  close(): void;
}

/** How far a run in progress has got. */
export interface RunView {
  /** Items planned so far, and whether that is all. */
  readonly planned: number;
  readonly planClosed: boolean;
  readonly judged: number;
  readonly errors: number;
  /** Items whose outcome is that of another item. */
  readonly copies: number;
  /** Share of the sources' bytes that was read, 0 … 1. */
  readonly readShare: number;
}

/** Counts how far planning has got, for display. */
export class RunProgress implements PlanProgress {
  readonly #totalBytes: number;
  #doneBytes = 0;
  #currentBytes = 0;
  #planned = 0;
  #closed = false;

  constructor(sources: readonly FrozenSource[]) {
    this.#totalBytes = sources.reduce((sum, source) => sum + source.bytes, 0);
  }

  planned(items: number): void {
    this.#planned += items;
  }

  sourceAt(bytes: number): void {
    this.#currentBytes = bytes;
  }

  sourceDone(source: FrozenSource): void {
    this.#doneBytes += source.bytes;
    this.#currentBytes = 0;
  }

  close(): void {
    this.#closed = true;
  }

  /** How far the run has got, with what is committed of its pass. */
  view({ items, errors, copies }: ShardCounts): RunView {
    const read = Math.min(this.#doneBytes + this.#currentBytes, this.#totalBytes);
    return {
      planned: this.#planned,
      planClosed: this.#closed,
      judged: items - errors - copies,
      errors,
      copies,
      readShare: this.#closed || this.#totalBytes === 0 ? 1 : read / this.#totalBytes,
    };
  }
}
