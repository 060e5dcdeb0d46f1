import type { ConcurrencyPolicy } from '../concurrency/concurrency.ts';
import type { StreamSlots } from '../streams/stream-slots.ts';
import type { Task } from '../tasks/task.ts';

/** Max content bytes in flight. One request is always allowed, whatever its size. */
const MAX_BYTES = 32 * 1024 * 1024;

/** One request to the guard. */
export interface Flight {
  /** Task i is row i. */
  readonly tasks: readonly Task[];
  /** Rows it counts against its concurrency limit. */
  readonly rows: number;
  readonly bytes: number;
  /** Whether it is a generation, which counts as a stream and not as rows. */
  readonly isStream: boolean;
  /** The limit it counts against: for requests or for streams. */
  readonly concurrency: ConcurrencyPolicy;
  /** Epoch of the version readings when it was sent. */
  readonly epoch: number;
  /** By `performance.now()`. */
  readonly sentAt: number;
  /** `GuardHealth.successes` when it was sent. */
  readonly successes: number;
  /** Aborts the call. */
  readonly controller: AbortController;
}

/**
 * The requests in flight at one endpoint, and their limits.
 *
 *   in flight ──complete()──► completed ──resolve()──► over
 *
 * A completed request no longer counts against the limits, but its tasks are not settled yet, and the guard may be
 * tested because of it. A task that must be alone is sent when no request is unresolved, and nothing else is sent until
 * it is.
 */
export class InFlight {
  /** Requests that are not completed. */
  readonly flights = new Set<Flight>();
  readonly #concurrency: ConcurrencyPolicy;
  readonly #slots: StreamSlots;
  #rows = 0;
  #bytes = 0;
  #unresolved = 0;
  #exclusive: Flight | null = null;

  constructor(concurrency: ConcurrencyPolicy, slots: StreamSlots) {
    this.#concurrency = concurrency;
    this.#slots = slots;
  }

  /** Whether every request is resolved. */
  get isOver(): boolean {
    return this.#unresolved === 0;
  }

  /** The request that must be the only one until it is resolved. */
  get exclusive(): Flight | null {
    return this.#exclusive;
  }

  get hasRoomForBytes(): boolean {
    return this.flights.size === 0 || this.#bytes < MAX_BYTES;
  }

  hasRoomForRows(rows: number): boolean {
    return this.#rows === 0 || this.#rows + rows <= this.#concurrency.limit;
  }

  /** Whether less than half of the limit is in flight: instances of the model may be idle. */
  get isUnderused(): boolean {
    return this.#rows * 2 < this.#concurrency.limit;
  }

  begin(flight: Flight, exclusive: boolean): void {
    this.flights.add(flight);
    if (flight.isStream) this.#slots.take();
    else this.#rows += flight.rows;
    this.#bytes += flight.bytes;
    this.#unresolved++;
    if (exclusive) this.#exclusive = flight;
  }

  /** Marks a request whose call has ended. Does nothing the second time. */
  complete(flight: Flight): void {
    if (!this.flights.delete(flight)) return;
    if (flight.isStream) this.#slots.release();
    else this.#rows -= flight.rows;
    this.#bytes -= flight.bytes;
  }

  /** Marks a request whose tasks need nothing more. */
  resolve(flight: Flight): void {
    this.#unresolved--;
    if (this.#exclusive === flight) this.#exclusive = null;
  }
}
