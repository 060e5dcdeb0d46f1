import { BatchLane, WINDOW_BATCHES } from './batch-lane.ts';
import type { Task } from './task.ts';
import { isBatchable, type RequestKind } from '../tensors/encode-request.ts';

/** The requests that a guard can take now. */
export interface Demand {
  /** Max rows of one request, 1 or more. */
  readonly maxRows: number;
  /** Whether a batch that is not full is due at once, because the guard has too little to do. */
  readonly partial: boolean;
  readonly takes: (requestKind: RequestKind) => boolean;
}

/** The next request; its tasks stay queued until taken. */
export interface Offer {
  /** Max rows it can have. The actual number is known once it is taken. */
  readonly rows: number;
  take(): Task[];
}

/** Tasks waiting to be sent. The lane that has waited longest goes first, among those that are due. */
export class TaskQueue {
  /** Tasks by kind and row limit. */
  readonly #lanes = new Map<string, BatchLane>();
  /** Tasks that must be in flight alone. */
  #alone: Task[] = [];
  #arrivals = 0;

  get size(): number {
    let size = this.#alone.length;
    for (const lane of this.#lanes.values()) size += lane.size;
    return size;
  }

  /** Kinds of requests of the waiting tasks. */
  get requestKinds(): Set<RequestKind> {
    const waiting = new Set(this.#alone.map(({ requestKind }) => requestKind));
    for (const lane of this.#lanes.values()) if (lane.size > 0) waiting.add(lane.requestKind);
    return waiting;
  }

  /** Adds a task, unless it already waits here. */
  add(task: Task): void {
    if (task.arrival !== null) return;
    task.arrival = this.#arrivals++;
    if (task.alone) this.#alone.push(task);
    else this.#laneOf(task).add(task);
  }

  /** The task that must be in flight alone and has waited longest. */
  get nextAlone(): Task | null {
    return this.#alone[0] ?? null;
  }

  /** Takes the tasks that must be in flight alone and pass the test. */
  takeAlone(test: (task: Task) => boolean): Task[] {
    const taken = this.#alone.filter(test);
    if (taken.length > 0) this.#alone = this.#alone.filter((task) => !test(task));
    for (const task of taken) task.arrival = null;
    return taken;
  }

  /** Whether any task waits that such a guard takes, due or not. */
  hasFor(takes: (requestKind: RequestKind) => boolean): boolean {
    for (const lane of this.#lanes.values()) if (lane.size > 0 && takes(lane.requestKind)) return true;
    return this.#alone.some(({ requestKind }) => takes(requestKind));
  }

  /**
   * The next request for a guard with this demand; null when nothing is due. A batch that is not full is due if the
   * demand says so, or once so many tasks have arrived since its first one that waiting longer would be unfair.
   */
  next({ maxRows, partial, takes }: Demand): Offer | null {
    let oldest: BatchLane | null = null;
    for (const lane of this.#lanes.values()) {
      if (lane.size === 0 || !takes(lane.requestKind)) continue;
      if (oldest !== null && oldest.since <= lane.since) continue;
      const isOverdue = this.#arrivals - lane.since > WINDOW_BATCHES * maxRows;
      if (partial || isOverdue || lane.size >= lane.batchRows(maxRows)) oldest = lane;
    }
    return oldest && { rows: oldest.batchRows(maxRows), take: () => this.#take(oldest, maxRows) };
  }

  /** Takes all tasks of a kind. */
  drain(requestKind: RequestKind): Task[] {
    const drained = this.takeAlone((task) => task.requestKind === requestKind);
    for (const lane of this.#lanes.values()) {
      if (lane.requestKind !== requestKind) continue;
      while (lane.size > 0) drained.push(...this.#take(lane, 1));
    }
    return drained;
  }

  /** Drops abandoned tasks. */
  sweep(): void {
    this.#alone = this.#alone.filter((task) => !task.abandoned);
    for (const lane of this.#lanes.values()) lane.sweep();
  }

  #take(lane: BatchLane, maxRows: number): Task[] {
    const tasks = lane.take(maxRows);
    for (const task of tasks) task.arrival = null;
    return tasks;
  }

  #laneOf({ requestKind, maxRows }: Task): BatchLane {
    const limit = isBatchable(requestKind) ? maxRows : 1;
    const key = `${requestKind} ${limit}`;
    let lane = this.#lanes.get(key);
    if (lane === undefined) {
      lane = new BatchLane(requestKind, limit);
      this.#lanes.set(key, lane);
    }
    return lane;
  }
}
