import type { ConcurrencyPolicy } from '../concurrency/concurrency.ts';
import type { Task } from '../tasks/task.ts';
import { type Demand, type Offer, TaskQueue } from '../tasks/task-queue.ts';
import type { Signature } from '../tensors/encode-request.ts';
import type { Load } from '../versions/version-brackets.ts';

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

/** What an endpoint has been sent so far. */
export interface Sent {
  readonly requests: number;
  readonly rows: number;
  /** Rows these requests had room for: the model's largest batch for kinds that travel in batches, else one. */
  readonly room: number;
  /** Time in which it could have worked on more, but nothing waited that it takes, in milliseconds. */
  readonly idleMs: number;
}

export interface SenderOptions {
  readonly maxBatchSize: number;
  readonly concurrency: ConcurrencyPolicy;
  /** What waits for any endpoint, shared with the others; read and taken from, never added to. */
  readonly backlog: TaskQueue;
  readonly takes: (signature: Signature) => boolean;
  /** Whether other endpoints take from the backlog, too. */
  readonly isOneOfMany: () => boolean;
}

export interface SenderHooks {
  /** Whether anything may be sent now, as far as others than the sender are concerned. */
  open(): boolean;
  /** What to note in a flight as it leaves. */
  stamp(): { readonly epoch: number; readonly successes: number };
  /** Makes the call and deals with its result; resolves when nothing is left to do for the flight's tasks. */
  fly(flight: Flight): Promise<void>;
  /** These tasks of the backlog are this endpoint's from now on. */
  taken(tasks: readonly Task[]): void;
  /** Everything that may be sent has been. */
  sent(): void;
  crashed(error: unknown): void;
}

/**
 * What is in flight at one endpoint, its own queue and its part of the backlog: gathers batches, holds to the limits,
 * pauses. Its own queue goes first; of the backlog it takes what it can send at once, so that whichever endpoint has room
 * gets the next batch, and a slow one holds up nothing.
 */
export class Sender {
  readonly #options: SenderOptions;
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
  #sentRequests = 0;
  #sentRows = 0;
  #sentRoom = 0;
  #idleMs = 0;
  /** Since when the guard has had too little to do while nothing waits; null while that is not so. */
  #idleSince: number | null = performance.now();

  constructor(options: SenderOptions, hooks: SenderHooks) {
    this.#options = options;
    this.#hooks = hooks;
  }

  get sent(): Sent {
    this.#clockIdle();
    return {
      requests: this.#sentRequests,
      rows: this.#sentRows,
      room: this.#sentRoom,
      idleMs: this.#idleMs,
    };
  }

  get flights(): ReadonlySet<Flight> {
    return this.#flights;
  }

  /** One item at a time is as good as starved: little is in flight that readings could delay. */
  get load(): Load {
    const oneByOne = this.#exclusive !== null || this.#queue.nextAlone !== null;
    const waiting = this.#waits();
    if (!oneByOne && (waiting || !this.#hungry)) return 'busy';
    return this.#flights.size > 0 || waiting ? 'starved' : 'idle';
  }

  /** Whether there is more to send than the limit allows. */
  get supplied(): boolean {
    return this.#offer(false) !== null;
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
    this.#clockIdle();
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
        this.#queue.takeAlone((task) => task === alone);
        this.#send([alone], 1, true);
        break;
      }
      const offer = this.#offer(this.#hungry);
      if (offer === null) break;
      const { rows } = offer;
      if (this.#flights.size > 0 && this.#rowsInFlight + rows > this.#options.concurrency.limit) break;
      const tasks = offer.take().filter((task) => !task.abandoned);
      if (tasks.length === 0) continue;
      if (offer.shared) this.#hooks.taken(tasks);
      this.#send(tasks, rows, false);
      if (offer.shared && this.#options.isOneOfMany()) {
        // The other endpoints have their turn before this one takes what will wait there.
        this.wake();
        break;
      }
    }
    this.#clockIdle();
    this.#hooks.sent();
  }

  #offer(hungry: boolean): (Offer & { readonly shared: boolean }) | null {
    const { maxBatchSize, backlog, takes } = this.#options;
    const demand: Demand = { maxRows: Math.max(1, maxBatchSize), hungry, takes };
    // Nobody else takes what is in the own queue, and little comes there: it does not wait for company.
    const own = this.#queue.next({ ...demand, hungry: true });
    if (own !== null) return { ...own, shared: false };
    const shared = backlog.next(demand);
    return shared && { ...shared, shared: true };
  }

  /** Less than half of what it may have is in flight: the instances themselves could be waiting. */
  get #hungry(): boolean {
    return this.#rowsInFlight * 2 < this.#options.concurrency.limit;
  }

  #waits(): boolean {
    return this.#queue.size > 0 || this.#options.backlog.hasFor(this.#options.takes);
  }

  /** Counts the time up to now, and notes whether what follows is idle. */
  #clockIdle(): void {
    const now = performance.now();
    if (this.#idleSince !== null) this.#idleMs += now - this.#idleSince;
    this.#idleSince = this.#hungry && !this.#waits() ? now : null;
  }

  #maySend(): boolean {
    return (
      this.#exclusive === null &&
      this.#pauses === 0 &&
      this.#hooks.open() &&
      (this.#flights.size === 0 || this.#bytesInFlight < MAX_BYTES_IN_FLIGHT)
    );
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
    this.#sentRequests++;
    this.#sentRows += tasks.length;
    this.#sentRoom += rows;
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
