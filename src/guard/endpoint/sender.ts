import type { ConcurrencyPolicy } from '../concurrency/concurrency.ts';
import type { StreamSlots } from '../streams/stream-slots.ts';
import type { Task } from '../tasks/task.ts';
import { type Demand, type Offer, TaskQueue } from '../tasks/task-queue.ts';
import type { RequestKind } from '../tensors/encode-request.ts';
import type { Load } from '../versions/version-brackets.ts';
import type { EndpointEvents } from './events.ts';
import type { Flight } from './flight.ts';
import { type Sent, SentMeter } from './sent-meter.ts';

/** Max content bytes in flight. One request is always allowed, whatever its size. */
const MAX_BYTES_IN_FLIGHT = 32 * 1024 * 1024;

interface SenderOptions {
  readonly maxBatchSize: number;
  /** The limit of requests. */
  readonly concurrency: ConcurrencyPolicy;
  /** The limit of streams, which a generation takes one of. */
  readonly slots: StreamSlots;
  /** Tasks waiting for any endpoint. Shared with the other endpoints: read and taken from here, never added to. */
  readonly backlog: TaskQueue;
  readonly takes: (requestKind: RequestKind) => boolean;
  /** Whether other endpoints take from the backlog as well. */
  readonly isOneOfMany: () => boolean;
}

/** Streams and other requests have limits of their own. */
type Lane = (requestKind: RequestKind) => boolean;

const isGeneration: Lane = (requestKind) => requestKind === 'generation';
const STREAMS = isGeneration;
const REQUESTS: Lane = (requestKind) => !isGeneration(requestKind);

interface OfferOfKind extends Offer {
  readonly kind: Lane;
  readonly shared: boolean;
}

/** What a sender needs from its dispatcher. */
interface SenderHooks {
  /** Whether the dispatcher allows sending now. */
  open(): boolean;
  /** What to note in a flight when it is sent. */
  stamp(): { readonly epoch: number; readonly successes: number };
  /** Makes the call and handles its result. Resolves when nothing is left to do for the flight's tasks. */
  send(flight: Flight): Promise<void>;
  /** These tasks of the backlog now belong to this endpoint. */
  taken(tasks: readonly Task[]): void;
  /** Everything that may be sent now has been. */
  sent(): void;
}

/**
 * Sends tasks to one endpoint, from its own queue and from the shared backlog: forms batches, holds to the limits of
 * rows, streams and bytes in flight, and pauses. Its own queue goes first. From the backlog it takes only what it can send at
 * once, so the next batch goes to whichever endpoint has room, and a slow endpoint holds nothing up.
 *
 *              wake()                   nothing due, limit reached, paused, or not open
 *   asleep ─────────────► pumping ─────────────────────────────────────────► asleep
 *                          │   ▲
 *             #send(batch) ▼   │ flight resolved
 *   flight: in flight ──complete()──► completed ──send() resolves──► resolved
 *
 * A completed flight no longer counts against the limits, but its tasks are not settled yet. A task that must be alone is
 * sent when no flight is unresolved (`#exclusive`), and nothing else is sent until it is resolved. `stop()` ends every
 * state: flights are aborted, and no timer or wake-up does anything afterwards.
 */
export class Sender {
  readonly #options: SenderOptions;
  readonly #hooks: SenderHooks;
  readonly #events: Pick<EndpointEvents, 'crashed'>;
  readonly #queue = new TaskQueue();
  readonly #flights = new Set<Flight>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #meter = new SentMeter();
  #rowsInFlight = 0;
  #bytesInFlight = 0;
  /** Flights not yet resolved, including completed ones. */
  #unresolved = 0;
  /** The flight that must be the only one, until it is resolved. */
  #exclusive: Flight | null = null;
  /** Pauses that are not over; nothing is sent while there is one. */
  #pauses = 0;
  #woken = false;
  #stopped = false;

  constructor(options: SenderOptions, hooks: SenderHooks, events: Pick<EndpointEvents, 'crashed'>) {
    this.#options = options;
    this.#hooks = hooks;
    this.#events = events;
  }

  get sent(): Sent {
    this.#clockIdle();
    return this.#meter.total;
  }

  /** In flight, not completed. */
  get flights(): ReadonlySet<Flight> {
    return this.#flights;
  }

  /** Sending one task at a time counts as starved: a reading can delay little that is in flight. */
  get load(): Load {
    const oneByOne = this.#exclusive !== null || this.#queue.nextAlone !== null;
    const waiting = this.#waits();
    if (!oneByOne && (waiting || !this.#underused)) return 'busy';
    return this.#flights.size > 0 || waiting ? 'starved' : 'idle';
  }

  /** Whether another request of this kind, streams or not, could be sent now if the limit allowed it. */
  isSupplied(flight: Flight): boolean {
    return (isStream(flight) ? this.#offerOf(STREAMS, false) : this.#offerOf(REQUESTS, false)) !== null;
  }

  isExclusive(flight: Flight): boolean {
    return this.#exclusive === flight;
  }

  enqueue(task: Task): void {
    this.#queue.add(task);
    this.wake();
  }

  /** Enqueues them after a delay, except for those abandoned meanwhile. */
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

  /** Sends in the next turn of the event loop, so that tasks added in this one share batches. */
  wake(): void {
    if (this.#woken || this.#stopped) return;
    this.#woken = true;
    setImmediate(() => {
      this.#woken = false;
      if (!this.#stopped) this.#pump();
    });
  }

  /** The call has ended: it frees its rows and bytes. Does nothing the second time. */
  complete(flight: Flight): void {
    if (!this.#flights.delete(flight)) return;
    this.#clockIdle();
    if (isStream(flight)) this.#options.slots.release();
    else this.#rowsInFlight -= flight.rows;
    this.#bytesInFlight -= flight.bytes;
  }

  /** Drops abandoned tasks from the queue, and aborts the flights in which every task is abandoned. */
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
        // A completed flight may still be testing the guard with a request of its own.
        if (this.#unresolved > 0) break;
        this.#queue.takeAlone((task) => task === alone);
        this.#send([alone], 1, true);
        break;
      }
      const offer = this.#offer(this.#underused);
      if (offer === null) break;
      const { rows } = offer;
      const isLimited = offer.kind === REQUESTS && this.#rowsInFlight > 0;
      if (isLimited && this.#rowsInFlight + rows > this.#options.concurrency.limit) break;
      const tasks = offer.take().filter((task) => !task.abandoned);
      if (tasks.length === 0) continue;
      if (offer.shared) this.#hooks.taken(tasks);
      this.#send(tasks, rows, false);
      if (offer.shared && this.#options.isOneOfMany()) {
        // Yields: the other endpoints take their batches before this one takes more.
        this.wake();
        break;
      }
    }
    this.#clockIdle();
    this.#hooks.sent();
  }

  /** Streams first: they have a limit of their own, so that they hold up no requests, nor the other way round. */
  #offer(partial: boolean): OfferOfKind | null {
    const stream = this.#options.slots.isFree ? this.#offerOf(STREAMS, partial) : null;
    return stream ?? this.#offerOf(REQUESTS, partial);
  }

  #offerOf(kind: Lane, partial: boolean): OfferOfKind | null {
    const { maxBatchSize, backlog } = this.#options;
    const takes = (requestKind: RequestKind): boolean =>
      kind(requestKind) && this.#options.takes(requestKind);
    const demand: Demand = { maxRows: Math.max(1, maxBatchSize), partial, takes };
    // No other endpoint takes from the own queue, and few tasks arrive there: batches do not wait to fill up.
    const own = this.#queue.next({ ...demand, partial: true });
    if (own !== null) return { ...own, kind, shared: false };
    const shared = backlog.next(demand);
    return shared && { ...shared, kind, shared: true };
  }

  /** Less than half of the limit is in flight: instances of the model may be idle. */
  get #underused(): boolean {
    return this.#rowsInFlight * 2 < this.#options.concurrency.limit;
  }

  #waits(): boolean {
    return this.#queue.size > 0 || this.#options.backlog.hasFor(this.#options.takes);
  }

  #clockIdle(): void {
    this.#meter.clock(this.#underused && this.#options.slots.open === 0 && !this.#waits());
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
    const { concurrency, slots } = this.#options;
    const flight: Flight = {
      tasks,
      rows,
      concurrency: isGeneration(tasks[0]!.requestKind) ? slots.concurrency! : concurrency,
      bytes: tasks.reduce((sum, task) => sum + task.bytes, 0),
      ...this.#hooks.stamp(),
      sentAt: performance.now(),
      controller: new AbortController(),
    };
    this.#flights.add(flight);
    this.#meter.sent(tasks.length, rows);
    if (isStream(flight)) slots.take();
    else this.#rowsInFlight += rows;
    this.#bytesInFlight += flight.bytes;
    if (exclusive) this.#exclusive = flight;
    this.#unresolved++;
    this.#hooks.send(flight).then(
      () => {
        this.#unresolved--;
        if (exclusive) this.#exclusive = null;
        this.wake();
      },
      (error: unknown) => this.#events.crashed(error),
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

function isStream({ tasks }: Flight): boolean {
  return isGeneration(tasks[0]!.requestKind);
}
