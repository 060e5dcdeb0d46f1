import { Fifo } from '../../flow/fifo.ts';
import type { Task } from './task.ts';

/**
 * Max content bytes in one batch; a larger item travels on its own. Keeps a batch below gRPC's default max message size
 * of 4 MiB, and keeps one slow batch from holding up many items.
 */
export const MAX_BATCH_BYTES = 1024 * 1024;

/** Batches cut from one sorted window: enough that the texts of one batch have nearly the same length. */
export const WINDOW_BATCHES = 16;

/** The waiting tasks of one kind, and how batches are formed from them. */
export interface BatchLane {
  readonly size: number;
  /** `Task.arrival` of its oldest task, which decides its turn among lanes; infinite when it is empty. */
  readonly since: number;
  /** Max rows of the next batch, for a guard that takes `maxRows`. */
  batchRows(maxRows: number): number;
  add(task: Task): void;
  /** The next batch: up to `batchRows` tasks and MAX_BATCH_BYTES; a larger task goes alone. Empty only when the lane is. */
  take(maxRows: number): Task[];
  /** Drops abandoned tasks. */
  sweep(): void;
}

/** Batches in order of arrival, each as large as all of its tasks allow. */
export class ArrivalLane implements BatchLane {
  readonly #maxRows: number;
  readonly #tasks = new Fifo<Task>();

  /** `maxRows`: limit of one batch, whatever the guard takes. */
  constructor(maxRows: number) {
    this.#maxRows = maxRows;
  }

  get size(): number {
    return this.#tasks.size;
  }

  get since(): number {
    return this.#tasks.first?.arrival ?? Number.POSITIVE_INFINITY;
  }

  batchRows(maxRows: number): number {
    return this.#limit(maxRows, this.#tasks.first);
  }

  add(task: Task): void {
    this.#tasks.add(task);
  }

  take(maxRows: number): Task[] {
    const batch = this.#tasks.take(1);
    let limit = this.#limit(maxRows, batch[0]);
    let bytes = batch[0]?.bytes ?? 0;
    for (let next = this.#tasks.first; next !== undefined; next = this.#tasks.first) {
      limit = this.#limit(limit, next);
      bytes += next.bytes;
      if (batch.length >= limit || bytes > MAX_BATCH_BYTES) break;
      batch.push(...this.#tasks.take(1));
    }
    return batch;
  }

  sweep(): void {
    this.#tasks.keep((task) => !task.abandoned);
  }

  #limit(maxRows: number, task: Task | undefined): number {
    return Math.min(maxRows, this.#maxRows, task?.maxRows ?? maxRows);
  }
}

/**
 * Batches of similar length, because a guard pads the rows of a batch to the longest one. The oldest tasks are sorted by
 * length, one window at a time, and cut into batches. The next window is opened when the last one is empty, so no task
 * waits longer than for the windows of the tasks that arrived before it.
 */
export class LengthLane implements BatchLane {
  readonly #arrived = new Fifo<Task>();
  /** Sorted by length. Those from `#from` up to `#to` are still waiting. */
  #window: Task[] = [];
  #from = 0;
  #to = 0;
  #windowSince = 0;
  #longestNext = false;

  get size(): number {
    return this.#to - this.#from + this.#arrived.size;
  }

  get since(): number {
    if (this.#from < this.#to) return this.#windowSince;
    return this.#arrived.first?.arrival ?? Number.POSITIVE_INFINITY;
  }

  batchRows(maxRows: number): number {
    return maxRows;
  }

  add(task: Task): void {
    this.#arrived.add(task);
  }

  /** Alternates between the short and the long end, so latencies of successive batches even out. */
  take(maxRows: number): Task[] {
    if (this.#from === this.#to) this.#openWindow(maxRows);
    const rows = this.#rowsThatFit(Math.min(maxRows, this.#to - this.#from));
    const start = this.#longestNext ? this.#to - rows : this.#from;
    if (this.#longestNext) this.#to -= rows;
    else this.#from += rows;
    const batch = this.#window.slice(start, start + rows);
    this.#longestNext = !this.#longestNext;
    if (this.#from === this.#to) this.#close();
    return batch;
  }

  sweep(): void {
    this.#arrived.keep((task) => !task.abandoned);
    this.#window = this.#window.slice(this.#from, this.#to).filter((task) => !task.abandoned);
    this.#from = 0;
    this.#to = this.#window.length;
  }

  /** Takes whole batches if there are any: the remainder finds closer lengths in the next window. */
  #openWindow(maxRows: number): void {
    const windowSize = maxRows > 1 ? WINDOW_BATCHES * maxRows : 1;
    const available = Math.min(windowSize, this.#arrived.size);
    this.#windowSince = this.since;
    this.#window = this.#arrived.take(available < maxRows ? available : available - (available % maxRows));
    this.#window.sort((a, b) => a.bytes - b.bytes);
    this.#to = this.#window.length;
    this.#longestNext = false;
  }

  #close(): void {
    this.#window = [];
    this.#from = 0;
    this.#to = 0;
  }

  /** How many of `rows` tasks, from the end that is next, fit into MAX_BATCH_BYTES; at least one. */
  #rowsThatFit(rows: number): number {
    let bytes = 0;
    for (let row = 0; row < rows; row++) {
      bytes += this.#window[this.#longestNext ? this.#to - 1 - row : this.#from + row]!.bytes;
      if (row > 0 && bytes > MAX_BATCH_BYTES) return row;
    }
    return rows;
  }
}
