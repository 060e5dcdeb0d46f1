import { isBatchable, type Signature } from './tensors/encode-request.ts';
import { type Task } from './task.ts';

/**
 * Most content bytes gathered in one batch; a larger item travels on its own. Keeps a batch below the 4 MiB that
 * gRPC servers accept unless told otherwise, and one slow batch from holding up many.
 */
export const MAX_BATCH_BYTES = 1024 * 1024;

/** Tasks waiting to be sent, first come, first served within a signature; the oldest head goes first. */
export class TaskQueue {
  readonly #bySignature = new Map<Signature, Set<Task>>();
  readonly #alone = new Set<Task>();
  readonly #order = new WeakMap<Task, number>();
  #arrivals = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(task: Task): void {
    const queue = this.#queueOf(task);
    if (queue.has(task)) return;
    this.#order.set(task, this.#arrivals++);
    queue.add(task);
    this.#size++;
  }

  /** The next task that must be in flight alone; it stays queued. */
  get nextAlone(): Task | null {
    return first(this.#alone);
  }

  remove(task: Task): void {
    if (this.#queueOf(task).delete(task)) this.#size--;
  }

  /** The task that `take` would begin with. */
  get next(): Task | null {
    const queue = this.#oldest();
    return queue && first(queue);
  }

  /** Drops tasks nobody waits for any more. */
  sweep(): void {
    for (const queue of [this.#alone, ...this.#bySignature.values()]) {
      for (const task of queue) {
        if (!task.abandoned) continue;
        queue.delete(task);
        this.#size--;
      }
    }
  }

  /**
   * Takes the next request's tasks: up to `maxRows` of one signature, as the tasks themselves allow. Empty when
   * nothing waits.
   */
  take(maxRows: number): Task[] {
    const queue = this.#oldest();
    const batch: Task[] = [];
    if (queue === null) return batch;
    let limit = maxRows;
    let bytes = 0;
    for (const task of queue) {
      limit = Math.min(limit, task.maxRows);
      bytes += task.bytes;
      if (batch.length > 0 && (batch.length >= limit || bytes > MAX_BATCH_BYTES)) break;
      batch.push(task);
      if (!isBatchable(task.signature)) break;
    }
    for (const task of batch) queue.delete(task);
    this.#size -= batch.length;
    return batch;
  }

  #oldest(): Set<Task> | null {
    let oldest: Set<Task> | null = null;
    let arrival = Number.POSITIVE_INFINITY;
    for (const queue of this.#bySignature.values()) {
      const head = first(queue);
      if (head === null) continue;
      const at = this.#order.get(head)!;
      if (at < arrival) {
        arrival = at;
        oldest = queue;
      }
    }
    return oldest;
  }

  #queueOf(task: Task): Set<Task> {
    if (task.alone) return this.#alone;
    let queue = this.#bySignature.get(task.signature);
    if (queue === undefined) {
      queue = new Set();
      this.#bySignature.set(task.signature, queue);
    }
    return queue;
  }
}

function first(queue: ReadonlySet<Task>): Task | null {
  for (const task of queue) return task;
  return null;
}
