import type { FrozenSource } from '../ingest/plan/plan-line.ts';

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

/** How far a run has got, for display. */
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

  /** Items planned so far, whether that is all, and the share of the sources' bytes that was read, 0 … 1. */
  snapshot(): { readonly items: number; readonly closed: boolean; readonly readShare: number } {
    const read = Math.min(this.#doneBytes + this.#currentBytes, this.#totalBytes);
    return {
      items: this.#planned,
      closed: this.#closed,
      readShare: this.#closed || this.#totalBytes === 0 ? 1 : read / this.#totalBytes,
    };
  }
}
