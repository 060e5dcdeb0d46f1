import { Fifo } from '../../flow/fifo.ts';
import type { Task } from './task.ts';

/**
 * Most content bytes gathered in one batch; a larger item travels on its own. Keeps a batch below the 4 MiB that
 * gRPC servers accept unless told otherwise, and one slow batch from holding up many.
 */
export const MAX_BATCH_BYTES = 1024 * 1024;

/** Batches that are cut from one window: enough that those in one batch are of nearly one length. */
export const WINDOW_BATCHES = 16;

/** Tasks of one signature that wait, and how batches are made of them. */
export interface BatchLane {
  readonly size: number;
  /** The arrival that tells its turn among lanes; infinite when it is empty. */
  readonly since: number;
  /** Most rows of the next batch, for a guard that takes `maxRows`. */
  mostRows(maxRows: number): number;
  add(task: Task): void;
  /** The next batch: not empty unless the lane is, up to `mostRows` rows and, but for a single task, MAX_BATCH_BYTES. */
  take(maxRows: number): Task[];
  /** Drops tasks that nobody waits for any more. */
  sweep(): void;
}

/** In order of arrival, as many together as each of them allows. */
export class ArrivalLane implements BatchLane {
  readonly #most: number;
  readonly #tasks = new Fifo<Task>();

  /** `most`: rows of one batch, whatever the guard takes. */
  constructor(most: number) {
    this.#most = most;
  }

  get size(): number {
    return this.#tasks.size;
  }

  get since(): number {
    return this.#tasks.first?.arrival ?? Number.POSITIVE_INFINITY;
  }

  mostRows(maxRows: number): number {
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
    return Math.min(maxRows, this.#most, task?.maxRows ?? maxRows);
  }
}

/**
 * Neighbours in length together, so that a guard which pads the rows of a batch to the longest has little to pad. The
 * oldest are sorted, a window at a time, and cut into batches; the next window begins when all of it has left. So
 * nobody, however long or short, waits for more than the windows of those that came before.
 */
export class LengthLane implements BatchLane {
  readonly #arrived = new Fifo<Task>();
  /** Sorted by length; from `#from` up to `#to` they are still here. */
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

  mostRows(maxRows: number): number {
    return maxRows;
  }

  add(task: Task): void {
    this.#arrived.add(task);
  }

  /** From the short and from the long end in turns, so that the times of successive batches even out. */
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

  /** A whole number of batches, if there is one: what is left over gets better company in the next window. */
  #openWindow(maxRows: number): void {
    const most = maxRows > 1 ? WINDOW_BATCHES * maxRows : 1;
    const available = Math.min(most, this.#arrived.size);
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

  /** How many of up to `rows` from the end that is next stay within the bytes of a batch; one always does. */
  #rowsThatFit(rows: number): number {
    let bytes = 0;
    for (let row = 0; row < rows; row++) {
      bytes += this.#window[this.#longestNext ? this.#to - 1 - row : this.#from + row]!.bytes;
      if (row > 0 && bytes > MAX_BATCH_BYTES) return row;
    }
    return rows;
  }
}
