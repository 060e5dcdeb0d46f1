import type { ConcurrencyPolicy } from '../../../src/guard/concurrency/concurrency.ts';

export interface SimulatedGuardOptions {
  readonly instances: number;
  /** Rows of every request. */
  readonly rows: number;
  /** Milliseconds that an instance works on the next request. */
  readonly serviceMs: () => number;
  /** Milliseconds on the way, there and back together. */
  readonly travelMs: number;
  /** Requests that may wait for an instance; one more is turned away. */
  readonly maxWaiting?: number;
}

/** What happened in a span of time. */
export interface Span {
  /** Share of the time in which instances worked. */
  readonly utilisation: number;
  readonly overloads: number;
}

interface Arrival {
  readonly sentAt: number;
}

/**
 * A guard on a clock of its own, and a client with no end of requests that sends whatever a concurrency policy allows.
 * Answers come in the order of their times; nothing here waits for real.
 */
export class SimulatedGuard {
  now = 0;
  instances: number;
  readonly #options: SimulatedGuardOptions;
  readonly #events: { readonly at: number; readonly run: () => void }[] = [];
  readonly #waiting: Arrival[] = [];
  #policy: ConcurrencyPolicy | null = null;
  #busy = 0;
  #inFlight = 0;
  #workedMs = 0;
  #overloads = 0;
  #pausedUntil = 0;

  constructor(options: SimulatedGuardOptions) {
    this.#options = options;
    this.instances = options.instances;
  }

  /** Lets the client work under the policy for so long. */
  run(policy: ConcurrencyPolicy, ms: number): Span {
    this.#policy = policy;
    const begunAt = this.now;
    const workedMs = this.#workedMs;
    const overloads = this.#overloads;
    const until = begunAt + ms;
    this.#send();
    for (;;) {
      const next = this.#events[0];
      if (next === undefined || next.at > until) break;
      this.#events.shift();
      this.now = next.at;
      next.run();
      this.#send();
    }
    this.now = until;
    return {
      utilisation: (this.#workedMs - workedMs) / (ms * this.instances),
      overloads: this.#overloads - overloads,
    };
  }

  #send(): void {
    const { rows, travelMs } = this.#options;
    if (this.now < this.#pausedUntil) return;
    while (this.#inFlight === 0 || this.#inFlight + rows <= this.#policy!.limit) {
      this.#inFlight += rows;
      const arrival = { sentAt: this.now };
      this.#after(travelMs / 2, () => this.#arrive(arrival));
    }
  }

  #arrive(arrival: Arrival): void {
    if (this.#busy >= this.instances && this.#waiting.length >= (this.#options.maxWaiting ?? Infinity)) {
      this.#after(this.#options.travelMs / 2, () => this.#turnedAway());
      return;
    }
    this.#waiting.push(arrival);
    this.#work();
  }

  #work(): void {
    while (this.#busy < this.instances && this.#waiting.length > 0) {
      const { sentAt } = this.#waiting.shift()!;
      const ms = this.#options.serviceMs();
      this.#busy++;
      this.#after(ms, () => {
        this.#busy--;
        this.#workedMs += ms;
        this.#work();
        this.#after(this.#options.travelMs / 2, () => this.#answered(sentAt));
      });
    }
  }

  #answered(sentAt: number): void {
    const { rows } = this.#options;
    this.#inFlight -= rows;
    this.#policy!.completed({ rows, latencyMs: this.now - sentAt, supplied: true });
  }

  #turnedAway(): void {
    this.#inFlight -= this.#options.rows;
    this.#overloads++;
    if (this.now < this.#pausedUntil) return;
    this.#policy!.overloaded();
    this.#pausedUntil = this.now + 50;
    this.#after(50, () => {});
  }

  #after(ms: number, run: () => void): void {
    const at = this.now + ms;
    let low = 0;
    let high = this.#events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#events[middle]!.at <= at) low = middle + 1;
      else high = middle;
    }
    this.#events.splice(low, 0, { at, run });
  }
}
