import { type ConcurrencyPolicy } from './concurrency.ts';
import { type Task } from './task.ts';
import { TaskQueue } from './task-queue.ts';
import { isBatchable } from './tensors/encode-request.ts';
import { type Load } from './version-brackets.ts';

/** Content bytes that may be in flight; one request may always be. */
const MAX_BYTES_IN_FLIGHT = 32 * 1024 * 1024;

/** One request to the guard, and the tasks that are its rows. */
export interface Flight {
  readonly tasks: readonly Task[];
  /** What it takes of the concurrency limit. */
  readonly rows: number;
  readonly bytes: number;
  /** Of the version brackets, when it was sent. */
  readonly epoch: number;
  /** By `performance.now()`. */
  readonly sentAt: number;
  /** Requests the dispatcher had seen answered when it was sent. */
  readonly successes: number;
  /** Ends the call. */
  readonly controller: AbortController;
}

export interface SenderHooks {
  /** Whether anything may be sent now, as far as others than the sender are concerned. */
  open(): boolean;
  /** What to note in a flight as it leaves. */
  stamp(): { readonly epoch: number; readonly successes: number };
  /** Makes the call and deals with its result; resolves when nothing is left to do for the flight's tasks. */
  fly(flight: Flight): Promise<void>;
  /** Everything that may be sent has been. */
  sent(): void;
  crashed(error: unknown): void;
}

/** The queue of one endpoint and what is in flight there: gathers batches, holds to the limits, pauses. */
export class Sender {
  readonly #maxBatchSize: number;
  readonly #concurrency: ConcurrencyPolicy;
  readonly #hooks: SenderHooks;
  readonly #queue = new TaskQueue();
  readonly #flights = new Set<Flight>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #rowsInFlight = 0;
  /** Flights whose tasks are not yet dealt with, including those that have landed. */
  #unresolved = 0;
  #bytesInFlight = 0;
  /** The flight that must be the only one, until its task is dealt with. */
  #exclusive: Flight | null = null;
  /** Pauses not yet over; nothing is sent meanwhile. */
  #pauses = 0;
  #woken = false;
  #stopped = false;

  constructor(maxBatchSize: number, concurrency: ConcurrencyPolicy, hooks: SenderHooks) {
    this.#maxBatchSize = maxBatchSize;
    this.#concurrency = concurrency;
    this.#hooks = hooks;
  }

  get flights(): ReadonlySet<Flight> {
    return this.#flights;
  }

  /** One item at a time is as good as starved: little is in flight that readings could delay. */
  get load(): Load {
    const oneByOne = this.#exclusive !== null || this.#queue.nextAlone !== null;
    if (this.#queue.size > 0 && !oneByOne) return 'busy';
    return this.#flights.size > 0 || this.#queue.size > 0 ? 'starved' : 'idle';
  }

  isExclusive(flight: Flight): boolean {
    return this.#exclusive === flight;
  }

  enqueue(task: Task): void {
    this.#queue.add(task);
    this.wake();
  }

  /** Enqueues after a while those that are still wanted then. */
  enqueueLater(tasks: readonly Task[], ms: number): void {
    this.#after(ms, () => {
      for (const task of tasks) if (!task.abandoned) this.enqueue(task);
    });
  }

  pause(ms: number): void {
    this.#pauses++;
    this.#after(ms, () => {
      this.#pauses--;
      this.wake();
    });
  }

  /** Sends in the next turn of the loop, so that what arrives together leaves together. */
  wake(): void {
    if (this.#woken || this.#stopped) return;
    this.#woken = true;
    setImmediate(() => {
      this.#woken = false;
      if (!this.#stopped) this.#pump();
    });
  }

  /** The call is over: its place is free. */
  land(flight: Flight): void {
    if (!this.#flights.delete(flight)) return;
    this.#rowsInFlight -= flight.rows;
    this.#bytesInFlight -= flight.bytes;
  }

  /** Drops from the queue, and ends the calls of, what nobody waits for any more. */
  sweep(): void {
    this.#queue.sweep();
    for (const flight of this.#flights) {
      if (flight.tasks.every((task) => task.abandoned)) flight.controller.abort();
    }
  }

  stop(): void {
    this.#stopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
    for (const flight of this.#flights) flight.controller.abort();
  }

  #pump(): void {
    while (this.#maySend()) {
      const alone = this.#queue.nextAlone;
      if (alone !== null) {
        // A landed flight may still be testing the guard.
        if (this.#unresolved > 0) break;
        this.#queue.remove(alone);
        this.#send([alone], 1, true);
        break;
      }
      const next = this.#queue.next;
      if (next === null) break;
      const rows = this.#batches(next) ? this.#maxBatchSize : 1;
      if (this.#flights.size > 0 && this.#rowsInFlight + rows > this.#concurrency.limit) break;
      const tasks = this.#queue.take(rows).filter((task) => !task.abandoned);
      if (tasks.length > 0) this.#send(tasks, rows, false);
    }
    this.#hooks.sent();
  }

  #maySend(): boolean {
    return (
      this.#exclusive === null &&
      this.#pauses === 0 &&
      this.#hooks.open() &&
      (this.#flights.size === 0 || this.#bytesInFlight < MAX_BYTES_IN_FLIGHT)
    );
  }

  #batches(task: Task): boolean {
    return this.#maxBatchSize > 1 && task.maxRows > 1 && isBatchable(task.signature);
  }

  #send(tasks: readonly Task[], rows: number, exclusive: boolean): void {
    const flight: Flight = {
      tasks,
      rows,
      bytes: tasks.reduce((sum, task) => sum + task.bytes, 0),
      ...this.#hooks.stamp(),
      sentAt: performance.now(),
      controller: new AbortController(),
    };
    this.#flights.add(flight);
    this.#rowsInFlight += rows;
    this.#bytesInFlight += flight.bytes;
    if (exclusive) this.#exclusive = flight;
    this.#unresolved++;
    this.#hooks.fly(flight).then(
      () => {
        this.#unresolved--;
        if (exclusive) this.#exclusive = null;
        this.wake();
      },
      (error: unknown) => this.#hooks.crashed(error),
    );
  }

  #after(ms: number, action: () => void): void {
    if (this.#stopped) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      action();
    }, ms);
    this.#timers.add(timer);
  }
}
