import { ArrivalLane, type BatchLane, LengthLane, WINDOW_BATCHES } from './batch-lane.ts';
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
  /** Max rows it can have. How many it has is known once it is taken. */
  readonly rows: number;
  take(): Task[];
}

/** Tasks waiting to be sent. The lane that has waited longest goes first, among those that are due. */
export class TaskQueue {
  /** Tasks that may share a batch with any other of their kind. */
  readonly #lanes = new Map<RequestKind, BatchLane>();
  /** Tasks limited to smaller batches, or to requests of their own. */
  readonly #limited = new Map<RequestKind, BatchLane>();
  #alone: Task[] = [];
  #arrivals = 0;

  get size(): number {
    let size = this.#alone.length;
    for (const lane of this.#lanes.values()) size += lane.size;
    for (const lane of this.#limited.values()) size += lane.size;
    return size;
  }

  /** Kinds of requests of the waiting tasks. */
  get requestKinds(): Set<RequestKind> {
    const waiting = new Set(this.#alone.map(({ requestKind }) => requestKind));
    for (const lanes of [this.#lanes, this.#limited]) {
      for (const [requestKind, lane] of lanes) if (lane.size > 0) waiting.add(requestKind);
    }
    return waiting;
  }

  /** Does nothing if the task already waits here. */
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
    for (const lanes of [this.#lanes, this.#limited]) {
      for (const [requestKind, lane] of lanes) if (lane.size > 0 && takes(requestKind)) return true;
    }
    return this.#alone.some(({ requestKind }) => takes(requestKind));
  }

  /**
   * The next request for a guard with this demand; null when nothing is due. A batch that is not full is due if the
   * demand says so, or once enough tasks have arrived since its first one that waiting longer would be unfair.
   */
  next({ maxRows, partial, takes }: Demand): Offer | null {
    let oldest: BatchLane | null = null;
    for (const lanes of [this.#lanes, this.#limited]) {
      for (const [requestKind, lane] of lanes) {
        if (lane.size === 0 || !takes(requestKind)) continue;
        if (oldest !== null && oldest.since <= lane.since) continue;
        const overdue = this.#arrivals - lane.since > WINDOW_BATCHES * maxRows;
        if (partial || overdue || lane.size >= lane.batchRows(maxRows)) oldest = lane;
      }
    }
    return oldest && { rows: oldest.batchRows(maxRows), take: () => this.#take(oldest, maxRows) };
  }

  /** Takes all tasks of a kind. */
  drain(requestKind: RequestKind): Task[] {
    const drained = this.takeAlone((task) => task.requestKind === requestKind);
    for (const lanes of [this.#lanes, this.#limited]) {
      const lane = lanes.get(requestKind);
      while (lane !== undefined && lane.size > 0) drained.push(...this.#take(lane, 1));
    }
    return drained;
  }

  /** Drops abandoned tasks. */
  sweep(): void {
    this.#alone = this.#alone.filter((task) => !task.abandoned);
    for (const lanes of [this.#lanes, this.#limited]) for (const lane of lanes.values()) lane.sweep();
  }

  #take(lane: BatchLane, maxRows: number): Task[] {
    const tasks = lane.take(maxRows);
    for (const task of tasks) task.arrival = null;
    return tasks;
  }

  #laneOf(task: Task): BatchLane {
    const { requestKind } = task;
    const batchable = isBatchable(requestKind);
    const together = batchable && task.maxRows === Number.POSITIVE_INFINITY;
    const lanes = together ? this.#lanes : this.#limited;
    let lane = lanes.get(requestKind);
    if (lane === undefined) {
      lane = together ? new LengthLane() : new ArrivalLane(batchable ? Number.POSITIVE_INFINITY : 1);
      lanes.set(requestKind, lane);
    }
    return lane;
  }
}
