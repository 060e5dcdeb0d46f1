import type { EndpointEvents } from './events.ts';
import type { Flight } from './flight.ts';
import type { Liveness } from './liveness.ts';

/** What the answers of a guard show: that it judges, how fast, and whether it is overloaded. */
export class GuardHealth {
  readonly liveness: Liveness;
  readonly overloads = new Overloads();
  readonly #events: Pick<EndpointEvents, 'judged'>;

  constructor(liveness: Liveness, events: Pick<EndpointEvents, 'judged'>) {
    this.liveness = liveness;
    this.#events = events;
  }

  /**
   * A flight was answered, with verdicts or with a refusal that names its reason. `supplied`: whether more was waiting
   * than the limit allowed.
   */
  answered({ rows, concurrency, sentAt }: Flight, supplied: boolean): void {
    concurrency.completed({ rows, latencyMs: performance.now() - sentAt, supplied });
    this.judged(sentAt);
  }

  /** The guard judged something: a request sent at `sentAt`, or the harmless text when left out. */
  judged(sentAt?: number): void {
    this.liveness.succeeded(sentAt);
    this.overloads.passed();
    this.#events.judged();
  }
}

/** Counts the overloads of one endpoint since the guard last judged something. */
class Overloads {
  #inRow = 0;
  #lastAt = 0;

  get any(): boolean {
    return this.#inRow > 0;
  }

  passed(): void {
    this.#inRow = 0;
  }

  /**
   * A request sent at `sentAt` (by `performance.now()`) was rejected as overload. Requests in flight together count as one
   * overload: returns null for all but the first of them, else the number of overloads in a row.
   */
  count(sentAt: number): number | null {
    if (sentAt < this.#lastAt) return null;
    this.#lastAt = performance.now();
    return ++this.#inRow;
  }
}
