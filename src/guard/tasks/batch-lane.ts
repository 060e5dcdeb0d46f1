import { Fifo } from '../../flow/fifo.ts';
import type { RequestKind } from '../tensors/encode-request.ts';
import type { Task } from './task.ts';

/**
 * Max content bytes in one batch; a larger item travels on its own. Keeps a batch below gRPC's default max message size
 * of 4 MiB, and keeps one slow batch from holding up many items.
 */
export const MAX_BATCH_BYTES = 1024 * 1024;

/** Batches cut from one sorted window: enough that the texts of one batch have nearly the same length. */
export const WINDOW_BATCHES = 16;

/**
 * Waiting tasks that may share a batch: all of one kind, with one limit of rows. A guard pads the rows of a batch to
 * the longest one, so batches contain texts of similar length. The oldest tasks are sorted by length, one window at a
 * time, and cut into batches. The next window is opened when the last one is empty, so no task waits longer than for
 * the windows of the tasks that arrived before it.
 */
export class BatchLane {
  readonly requestKind: RequestKind;
  readonly #maxRows: number;
  readonly #arrived = new Fifo<Task>();
  /** Sorted by length. Those from `#from` up to, not including, `#to` are still waiting. */
  #window: Task[] = [];
  #from = 0;
  #to = 0;
  #windowSince = 0;
  #longestNext = false;

  /** `maxRows` is the limit of one batch, whatever the guard takes. */
  constructor(requestKind: RequestKind, maxRows: number) {
    this.requestKind = requestKind;
    this.#maxRows = maxRows;
  }

  get size(): number {
    return this.#to - this.#from + this.#arrived.size;
  }

  /** `Task.arrival` of its oldest task, which determines its turn among lanes; infinite when it is empty. */
  get since(): number {
    if (this.#from < this.#to) return this.#windowSince;
    return this.#arrived.first?.arrival ?? Number.POSITIVE_INFINITY;
  }

  /** Max rows of the next batch, for a guard that takes `maxRows`. */
  batchRows(maxRows: number): number {
    return Math.min(maxRows, this.#maxRows);
  }

  add(task: Task): void {
    this.#arrived.add(task);
  }

  /**
   * Takes the next batch: up to `batchRows` tasks and MAX_BATCH_BYTES; a larger task goes alone. Empty only when the
   * lane is. Alternates between the short and the long end, so latencies of successive batches even out.
   */
  take(maxRows: number): Task[] {
    const limit = this.batchRows(maxRows);
    if (this.#from === this.#to) this.#openWindow(limit);
    const rows = this.#rowsThatFit(Math.min(limit, this.#to - this.#from));
    const start = this.#longestNext ? this.#to - rows : this.#from;
    if (this.#longestNext) this.#to -= rows;
    else this.#from += rows;
    this.#longestNext = !this.#longestNext;
    const batch = this.#window.slice(start, start + rows);
    // Releases the tasks: their content must not outlive them here.
    if (this.#from === this.#to) this.#window = [];
    return batch;
  }

  /** Drops abandoned tasks. */
  sweep(): void {
    this.#arrived.keep((task) => !task.abandoned);
    this.#window = this.#window.slice(this.#from, this.#to).filter((task) => !task.abandoned);
    this.#from = 0;
    this.#to = this.#window.length;
  }

  /**
   * Opens a window of whole batches if there are enough tasks: the remainder finds closer lengths in the next window.
   */
  #openWindow(rows: number): void {
    const windowSize = rows > 1 ? WINDOW_BATCHES * rows : 1;
    const available = Math.min(windowSize, this.#arrived.size);
    this.#windowSince = this.since;
    this.#window = this.#arrived.take(available < rows ? available : available - (available % rows));
    this.#window.sort((a, b) => a.bytes - b.bytes);
    this.#from = 0;
    this.#to = this.#window.length;
    this.#longestNext = false;
  }

  /** Number of tasks, up to `rows` and from the end that is next, that fit into MAX_BATCH_BYTES; at least one. */
  #rowsThatFit(rows: number): number {
    let bytes = 0;
    for (let row = 0; row < rows; row++) {
      bytes += this.#window[this.#longestNext ? this.#to - 1 - row : this.#from + row]!.bytes;
      if (row > 0 && bytes > MAX_BATCH_BYTES) return row;
    }
    return rows;
  }
}
